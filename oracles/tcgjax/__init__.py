"""The reference of tcgjax-v0: Pokemon TCG Pocket in plain Python, written from RULES.md."""
