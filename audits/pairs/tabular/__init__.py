"""Gymnasium's `tabular` against its own toy text."""
