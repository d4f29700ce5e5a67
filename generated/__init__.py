"""Implementations in JAX, one package per environment."""
