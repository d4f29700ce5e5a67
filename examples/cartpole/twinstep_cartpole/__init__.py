"""Gymnasium's CartPole-v1 under twinstep, as an example of an environment of your own.

contract: the agreement of both sides. declared: the declaration. oracle: the bridge to Gymnasium.
fast: the implementation in JAX. drivers: a policy that keeps the pole up.
"""
