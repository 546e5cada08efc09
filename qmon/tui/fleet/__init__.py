"""Several targets at once: an overview of them and of all their queues, and the way to the screens of each."""
