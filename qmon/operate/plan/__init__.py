"""Plans: which messages an action is for, what it would do, and what forbids it."""
