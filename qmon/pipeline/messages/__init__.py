"""Copies archived messages into the lake, each once."""
