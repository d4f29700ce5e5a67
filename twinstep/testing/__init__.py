"""The pytest plugin: options, selection, accounting, verdict."""
