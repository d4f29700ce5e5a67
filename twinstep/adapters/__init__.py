"""A made environment in the conventions that trainers expect; each in a file of its own.

Every adapter gives the transitions of `Env` unchanged; `rollouts/test_adapters.py` compares
each with the oracle.
"""
