"""Poll a target with one connection and one thread. Choose the probes of each poll within a cost budget."""
