"""Background readers: each has a thread and a connection of its own, so that the poll never waits for it."""
