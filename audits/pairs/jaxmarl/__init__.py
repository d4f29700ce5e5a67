"""JaxMARL's particle environments against mpe2's."""
