"""Rates of a queue over time: what moved between polls, and what ids tell on a standby."""
