"""The poll: one connection, one thread, the probes of each tick and what they may cost."""
