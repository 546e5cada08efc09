"""``qmon doctor``: what the role may do and see on a target, and the archive for bug reports."""
