"""What lies over a screen for a moment."""
