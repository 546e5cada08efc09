"""The past of a queue: ranges of recorded or remembered figures in equal steps, with incidents and baselines."""
