"""The lake: tables as Parquet folders and their manifest."""
