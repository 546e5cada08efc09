"""The queue libraries that qmon knows: a file each, and how their tables are recognised."""
