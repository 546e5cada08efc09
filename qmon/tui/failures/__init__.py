"""The failures of a queue: failed and retried messages, grouped by error text."""
