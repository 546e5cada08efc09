"""Run a plan in small transactions with rests between them. Each is audited and verified, and a run can be stopped."""
