"""Public pairs of a reference and a port, each declared in a few lines and run by one command."""
