"""``qmon doctor``: checks what the role may do and read on a target, and writes the archive for bug reports."""
