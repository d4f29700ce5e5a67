"""The bridge to Gymnasium. It contains no rule of the game."""
