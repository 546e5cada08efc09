"""Actions on queues of libraries. They make the same changes to the tables as the library's own functions."""
