"""Producers and consumers as real processes that drive installed queues, with faults. They count their commits."""
