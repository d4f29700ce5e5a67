"""Contracts: one module per environment, data and layouts only."""
