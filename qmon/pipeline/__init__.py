"""The pipeline: Spark computes baselines, incidents and capacity forecasts from months of recordings."""
