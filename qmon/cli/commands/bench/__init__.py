"""``qmon bench``: the command and its output."""
