"""The consumers of a queue: who works, on what, and since when."""
