"""Level 3: whole episodes."""
