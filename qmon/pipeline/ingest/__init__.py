"""Ingest: reads segments of recordings, checks each line and writes rows to the lake."""
