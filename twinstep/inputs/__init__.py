"""Inputs of the comparison: seeds, sampled states and actions, batch sizes."""
