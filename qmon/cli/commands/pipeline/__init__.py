"""``qmon pipeline``: its commands and their output."""
