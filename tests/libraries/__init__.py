"""Real libraries that keep queues in a database, with real workers of theirs: what qmon's figures are held against."""
