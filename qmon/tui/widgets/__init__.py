"""What draws lines and tables; nothing here knows what a queue is."""
