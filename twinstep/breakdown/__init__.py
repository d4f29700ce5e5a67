"""`twinstep breakdown`: where the time of an iteration of PPO goes."""
