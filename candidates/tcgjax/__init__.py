"""Adapter of the trading card game in JAX."""
