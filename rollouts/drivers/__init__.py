"""Drivers: policies that pick actions while a trace is recorded."""
