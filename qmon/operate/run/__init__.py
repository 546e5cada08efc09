"""Run a plan in small, paced transactions that are audited, verified and can be stopped."""
