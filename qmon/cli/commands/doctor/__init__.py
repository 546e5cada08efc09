"""``qmon doctor``: what a role may do and see here, and the archive for a bug report."""
