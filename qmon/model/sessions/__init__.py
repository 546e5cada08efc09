"""Sessions of a server: producers, consumers, and whether the owner of a message is alive."""
