"""Screen 1: all queues, worst first."""
