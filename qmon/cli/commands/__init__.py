"""The commands: a module each, a folder where a command has several."""
