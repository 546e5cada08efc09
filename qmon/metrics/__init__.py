"""Metrics of each target for Prometheus, OpenTelemetry and node_exporter, from one list of metrics."""
