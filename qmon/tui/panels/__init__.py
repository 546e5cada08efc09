"""What a panel says: pure functions from the figures to lines and rows. Nothing here computes a figure."""
