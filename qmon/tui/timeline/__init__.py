"""Screen 7: the event log of all queues and targets."""
