"""The queue libraries that qmon supports (one file for each library), and the recognition of their tables."""
