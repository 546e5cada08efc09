"""Screen 5: the history of a queue."""
