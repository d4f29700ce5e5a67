"""A candidate in a process of its own, which never sees where the verdict is made."""
