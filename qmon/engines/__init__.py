"""The only way to a database: connections, quoting, errors and the SQL files of each engine."""
