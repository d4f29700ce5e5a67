"""Level 3 of Pong: drivers."""
