"""Level 1 of the card game."""
