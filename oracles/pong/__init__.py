"""Bridge to PufferLib's C Pong."""
