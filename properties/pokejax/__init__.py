"""PokeJAX's own tests of this level."""
