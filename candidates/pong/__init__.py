"""Adapters of the Pong implementations."""
