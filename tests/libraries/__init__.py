"""Real libraries that keep queues in a database, with their real workers, to compare qmon's figures with."""
