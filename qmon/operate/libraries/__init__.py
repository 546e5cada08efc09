"""Actions on queues of libraries. They write what the library's own functions write."""
