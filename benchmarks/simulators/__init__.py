"""Simulated campaigns, a file for each family: `SIMULATORS` by `Metric.family`."""
