"""Screen 3: what sessions wait for, server health, the horizon, and what pops cost."""
