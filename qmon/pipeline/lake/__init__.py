"""The lake: tables in the Delta format, their schemas and maintenance."""
