"""Several targets in one dashboard: screens of all targets and of all their queues, and the screens of each target."""
