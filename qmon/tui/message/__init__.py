"""One message, whole: its payload, every column, its times and its owner."""
