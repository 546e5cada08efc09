"""What is read besides the figures of each queue: messages, locks, waits, use, the server itself."""
