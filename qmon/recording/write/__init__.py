"""Writing recordings: the recorder, its segments, recovery and retention."""
