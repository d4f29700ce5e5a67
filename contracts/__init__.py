"""Contracts: one package per environment, with data and layouts only."""
