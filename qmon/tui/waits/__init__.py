"""Screen 3: what sessions wait for, the horizon, what pops cost."""
