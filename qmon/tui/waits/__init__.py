"""Screen 3: the waits of sessions, server health, the horizon, and the cost of pops."""
