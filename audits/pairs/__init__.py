"""One folder per library whose ports are audited, one file per pair."""
