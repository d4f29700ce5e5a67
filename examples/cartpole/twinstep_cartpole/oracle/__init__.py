"""The bridge to Gymnasium. No rule of the game is written down here."""
