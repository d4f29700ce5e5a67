"""`python -m tools.evidence`: one document with all committed results, each number from a file."""
