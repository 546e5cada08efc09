"""The queue libraries that qmon supports, one file each, and how their tables are recognized."""
