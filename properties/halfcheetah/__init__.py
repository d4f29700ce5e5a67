"""Level 1 properties of HalfCheetah."""
