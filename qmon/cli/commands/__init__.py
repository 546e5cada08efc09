"""The commands. Each command has a module, or a folder if it needs several modules."""
