"""Rates of a queue: from counters, from ids on a standby, and the checks on them."""
