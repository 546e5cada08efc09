"""Measures queue designs side by side: throughput, latency and cost for the server."""
