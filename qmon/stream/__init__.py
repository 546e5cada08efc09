"""Polls over HTTP in the format of recordings: what ``qmon serve`` sends, and the source that a dashboard reads."""
