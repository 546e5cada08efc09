"""Poll a target: one connection, one thread, the probes of each poll and their cost budget."""
