"""Rates: the messages that moved between two polls, per second."""
