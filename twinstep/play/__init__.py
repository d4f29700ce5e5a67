"""`twinstep play`: watch or play an episode in the terminal."""
