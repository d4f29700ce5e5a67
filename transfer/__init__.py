"""Level 4: policies transfer between oracle and candidate; players of the games in two folders."""
