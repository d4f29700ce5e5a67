"""The suite's names for the plugin's fixtures."""

from twinstep.testing.fixtures import lab, reference

__all__ = ["lab", "reference"]
