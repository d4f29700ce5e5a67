"""The oracle's process, its recorded traces and their cache."""
