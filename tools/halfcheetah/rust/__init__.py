"""Write the Rust of HalfCheetah's physics; see `__main__`."""
