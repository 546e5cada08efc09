"""One complete message: its payload, all columns, its times and its owner."""
