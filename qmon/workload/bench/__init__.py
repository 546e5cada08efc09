"""Measures queue designs side by side: throughput, latency and what they cost the server."""
