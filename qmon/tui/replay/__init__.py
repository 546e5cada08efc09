"""The dashboard over a recording."""
