"""Screen 5: the past of a queue."""
