"""Waits and locks: who waits for what and for whom, and what that means for a queue. Pure functions."""
