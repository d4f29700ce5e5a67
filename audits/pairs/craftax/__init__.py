"""Craftax-Classic against crafter, one theme a pair."""
