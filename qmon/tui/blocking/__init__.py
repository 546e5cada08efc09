"""Screen 4: who waits for whom."""
