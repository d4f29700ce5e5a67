"""The project around a run: registry, source files and hashes, verdicts, git, cargo."""
