"""Tests of the embedded server and the demo, on a real server."""
