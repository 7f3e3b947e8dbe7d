"""Watching batches of new data: bands, alarms, the estimated share of new data, and what to do."""
