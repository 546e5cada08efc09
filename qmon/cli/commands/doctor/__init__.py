"""``qmon doctor``: checks the rights of the role on a target, and writes the archive for bug reports."""
