"""Several targets at once: an overview of targets and all their queues, and access to each target's screens."""
