"""Screen 4: lock chains."""
