"""HalfCheetah's candidates."""
