"""MJX against MuJoCo of the same version on small models of our own."""
