"""HalfCheetah's own tests of level 2."""
