"""Rates: what moved between two polls, how fast, and when a queue drains."""
