"""Run a plan in small transactions with rests in between. Transactions are audited and verified, and runs can stop."""
