"""Background readers. Each reader has its own thread and connection, so that polls never wait for a reader."""
