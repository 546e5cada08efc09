"""Samples: the typed rows of each probe. Field names are the column names of the SQL."""
