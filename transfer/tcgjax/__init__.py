"""Players of the trading card game."""
