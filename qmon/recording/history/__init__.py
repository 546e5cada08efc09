"""The past of a queue: ranges of a recording, thinned out, with incidents and baselines."""
