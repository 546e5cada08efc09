"""Access to the databases: connections, quoting, errors and the SQL files of each engine."""
