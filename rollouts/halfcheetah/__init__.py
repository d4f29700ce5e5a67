"""Level 3 of HalfCheetah: drivers."""
