"""``qmon design bench``: the command, and how its report is shown."""
