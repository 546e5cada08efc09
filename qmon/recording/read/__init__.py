"""Reading recordings: segments, replay, comparison."""
