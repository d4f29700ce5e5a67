"""Level 2: modules together."""
