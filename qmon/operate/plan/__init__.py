"""Plan actions: which messages they affect, what they would do, and what forbids them."""
