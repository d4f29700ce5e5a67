"""twinstep proves that a fast environment behaves exactly like its reference."""

__version__ = "0.1.0"
