"""Level 1 properties of Pong."""
