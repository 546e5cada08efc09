"""Running a plan: in small paced transactions, audited, stoppable, verified."""
