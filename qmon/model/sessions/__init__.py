"""Sessions of a server: producers, consumers and the owners of messages."""
