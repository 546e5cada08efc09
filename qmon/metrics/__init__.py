"""Metrics: what Prometheus gets of each target. One list says which there are."""
