"""Archived messages into the lake, each once."""
