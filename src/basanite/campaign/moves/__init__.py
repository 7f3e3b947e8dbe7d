"""Campaigns of other platforms, turned into a folder from which a campaign is made here (P-48)."""
