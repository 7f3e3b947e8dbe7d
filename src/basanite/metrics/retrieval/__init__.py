"""Metrics of finding: detection and its thresholds, end to end, identification, ranking."""
