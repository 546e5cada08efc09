"""The report: facts, HTML and plots."""
