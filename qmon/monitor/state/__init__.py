"""Fold the snapshots of a target into figures and verdicts over several polls."""
