"""Configuration: targets, queues and settings from ``qmon.toml``, and passwords from other sources."""
