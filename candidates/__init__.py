"""Candidates: thin adapters from implementations to the Candidate protocol."""
