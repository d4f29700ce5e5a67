"""Level 1: modules alone."""
