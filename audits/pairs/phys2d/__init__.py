"""Gymnasium's `phys2d` against its own classic control."""
