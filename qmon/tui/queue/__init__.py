"""Screen 2: one queue."""
