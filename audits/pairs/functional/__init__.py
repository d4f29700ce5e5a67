"""Gymnasium's wrappers of its functional environments."""
