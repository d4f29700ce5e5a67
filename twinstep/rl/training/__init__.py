"""`twinstep train`: PPO on any environment and either backend, in a folder that can be resumed."""
