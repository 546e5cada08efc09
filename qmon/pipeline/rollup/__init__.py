"""Aggregates rows to minutes, hours and days, incidents, baselines and capacity."""
