"""Benchmarks: ratios measured in one run on one machine, printed as a table and written as JSON."""
