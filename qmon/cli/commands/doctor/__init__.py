"""``qmon doctor``: checks the rights of the role on a target, and writes an archive for bug reports."""
