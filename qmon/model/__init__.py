"""Frozen records and pure functions, independent of databases, screens and clocks."""
