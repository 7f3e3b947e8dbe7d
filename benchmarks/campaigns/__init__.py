"""Simulated campaigns as files, a world for each task: `WORLDS` by the name of the task (S-25)."""
