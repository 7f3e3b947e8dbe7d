"""Transferability measures: what source features or predictions are worth for other labels."""
