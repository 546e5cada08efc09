"""Several targets in one dashboard: a screen of all targets, a screen of all queues, and screens for each target."""
