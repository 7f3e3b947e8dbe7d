"""Formats of text tasks: trees, log-probabilities and what else systems say of sentences."""
