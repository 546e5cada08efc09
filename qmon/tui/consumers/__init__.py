"""The consumers of a queue, with their sessions and messages."""
