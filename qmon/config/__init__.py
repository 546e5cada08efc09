"""What the user says: targets, queues and settings in ``qmon.toml``, and passwords from anywhere but there."""
