"""Rates: what moved between two polls, and how fast."""
