"""Plots made of characters: pure functions from points to lines of spans."""
