"""Notices of alerts to receivers: who gets what, when it is tried again, and the two ways to deliver it."""
