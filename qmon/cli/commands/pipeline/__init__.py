"""``qmon pipeline``: its commands, and what they print."""
