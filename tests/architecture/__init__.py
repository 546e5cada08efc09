"""Tests of the project itself: import contracts, the manual, the setup script, the wheel."""
