"""Annotation in a campaign: projects, assignment, events, agreement, adjudication, and what comes out of it (R-15)."""
