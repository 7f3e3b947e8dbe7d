"""Passages for a readability panel: pool, vetting, preparation, sampling by genre, and rounds in balance (R-1)."""

from basanite.judging.passages.model import Dropped, Passage, Prepared, Removed
from basanite.judging.passages.preparing import Wishes, items_of, prepare

__all__ = ("Dropped", "Passage", "Prepared", "Removed", "Wishes", "items_of", "prepare")
