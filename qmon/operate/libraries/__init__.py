"""Acting on queues of libraries, by what their own functions write."""
