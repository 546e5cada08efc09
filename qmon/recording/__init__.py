"""Recording and replay: keep snapshots of a target in files and show them again. FORMAT.md describes the files."""
