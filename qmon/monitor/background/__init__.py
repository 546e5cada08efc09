"""Slow readings on connections of their own, so that the poll never waits for them."""
