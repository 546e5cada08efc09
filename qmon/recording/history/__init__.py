"""The past of a queue: figures from recordings or from memory in equal steps, with incidents and baselines."""
