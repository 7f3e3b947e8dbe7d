"""Panels of judges in a campaign: set up, joined, worked on, looked at, adjudicated, paid, and ended in files."""
