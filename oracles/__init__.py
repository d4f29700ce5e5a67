"""Oracles: bridges to the real reference programs."""
