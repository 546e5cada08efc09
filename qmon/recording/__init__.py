"""Recording and replay: write snapshots of a target to files and show them again. FORMAT.md describes the files."""
