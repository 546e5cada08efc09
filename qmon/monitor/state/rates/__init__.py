"""Compute the rates of a queue from counters, or from ids on a standby, and check whether the rates are right."""
