"""Level 4: policies transfer between oracle and candidate."""
