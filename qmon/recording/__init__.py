"""Recording and replay: what was seen of a target, kept in files, and shown again. FORMAT.md describes the files."""
