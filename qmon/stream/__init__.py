"""Polls over HTTP in the format of recordings: ``qmon serve`` sends polls, and a dashboard reads them as its source."""
