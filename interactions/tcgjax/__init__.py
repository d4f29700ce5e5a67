"""TCGJax's own tests of this level."""
