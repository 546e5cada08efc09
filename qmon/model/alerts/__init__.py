"""Alerts: rules about figures and verdicts, alerts over time, notices, and checks for monitoring systems."""
