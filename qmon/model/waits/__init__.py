"""Waits and locks: what sessions wait for, and the effects on a queue."""
