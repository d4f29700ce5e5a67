"""Adapter of the Pokemon battles in JAX."""
