"""Policies, PPO, opponents and rollouts over `Env`."""
