"""Adapters of `Env` to the conventions of trainers, each in a file of its own.

Every adapter gives the transitions of `Env` unchanged; `rollouts/test_adapters.py` compares
each with the oracle.
"""
