"""Reading recordings: segments, replay, export."""
