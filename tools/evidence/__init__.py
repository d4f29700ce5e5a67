"""`python -m tools.evidence`: one document of all committed results, each number from its file."""
