"""Sessions of a server: who pushes and who pops, and whether the owner of a message lives."""
