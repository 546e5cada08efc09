"""Runs actions on queues of libraries, with the same changes to the tables as the library's own functions."""
