"""The report, as facts, HTML and plots."""
