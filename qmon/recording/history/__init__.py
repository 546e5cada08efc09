"""The past of a queue: ranges of a recording, thinned, with incidents and baselines."""
