"""Screen 1: all queues, the worst first."""
