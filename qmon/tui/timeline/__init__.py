"""Screen 7: what happened, of all queues."""
