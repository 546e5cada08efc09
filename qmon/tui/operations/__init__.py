"""Screen 6: what was done to the queues."""
