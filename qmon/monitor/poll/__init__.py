"""The poll: one connection, one thread, the probes of each poll and what they may cost."""
