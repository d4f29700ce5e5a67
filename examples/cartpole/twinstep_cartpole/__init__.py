"""Gymnasium's CartPole-v1 under twinstep, as anybody adds an environment of their own.

contract: what both sides agree on. declared: who they are. oracle: the bridge to Gymnasium.
fast: the implementation in JAX. drivers: a policy that keeps the pole up.
"""
