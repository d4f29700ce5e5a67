"""Level 3 of the card game."""
