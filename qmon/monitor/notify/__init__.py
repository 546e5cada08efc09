"""Send notices of alerts to receivers: routing, retries, and the two ways of delivery."""
