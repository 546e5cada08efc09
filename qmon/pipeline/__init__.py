"""The pipeline: Spark rolls up months of recordings into baselines, incidents and capacity forecasts."""
