"""What is known of a target over several polls: snapshots folded into figures and verdicts."""
