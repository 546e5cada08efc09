"""Layouts: how one table, or a set of tables, acts as a queue."""
