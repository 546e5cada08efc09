"""Monitoring: probes, the poller, discovery and the bounded history."""
