"""Environments for users: `make`, `Env`, auto-reset, time steps."""
