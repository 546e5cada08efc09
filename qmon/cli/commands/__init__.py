"""The commands: one module each, or a folder for commands with several modules."""
