"""Pushers and poppers as real processes that drive installed queues, with faults, and that count what they commit."""
