"""Waits and locks: sessions and what they wait for, and what that means for a queue."""
