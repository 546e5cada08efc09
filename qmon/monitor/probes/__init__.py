"""Choose and render the statements of a poll: queues, messages, locks, waits, usage, server."""
