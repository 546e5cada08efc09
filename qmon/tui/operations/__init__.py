"""Screen 6: the operations on the queues."""
