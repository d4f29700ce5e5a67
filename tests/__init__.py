"""The core's own tests."""
