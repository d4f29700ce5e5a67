"""PufferLib's games in C against Gymnasium's."""
