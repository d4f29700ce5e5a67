"""Comparison of a candidate with recorded traces: one module per kind of gate."""
