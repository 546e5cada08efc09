"""Metrics of each target for Prometheus and node_exporter, from one list of metrics."""
