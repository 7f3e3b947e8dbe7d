"""Keeping a season: backup and restore, export and import, reproducible bundles, and the published site."""
