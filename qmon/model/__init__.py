"""Frozen records and pure functions; nothing here knows a database, a screen or a clock."""
