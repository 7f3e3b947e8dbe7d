"""Generators of data files: deterministic, so that the same request always gives the same bytes."""
