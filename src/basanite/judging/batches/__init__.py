"""Batches for a crowd platform: a template and a table go out, results come back bound to what was sent (X-18)."""

from basanite.judging.batches.exporting import Batch, Hit, export_batch, why_not
from basanite.judging.batches.importing import Imported, Vote, read_results

__all__ = ("Batch", "Hit", "Imported", "Vote", "export_batch", "read_results", "why_not")
