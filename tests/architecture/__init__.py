"""Tests of the house itself: what may import what, how long files get, what a wheel holds."""
