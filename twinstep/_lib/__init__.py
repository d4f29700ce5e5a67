"""Helpers that know nothing of environments: paths, statistics, signals, child processes."""
