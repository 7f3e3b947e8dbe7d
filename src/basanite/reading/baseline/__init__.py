"""A plain reader of football reports: patterns and a list of teams, something to beat for a reading task (R-19).

It was written against the training texts of the example alone. It knows how scores, winners, dates and counts are
usually worded, and nothing of what a sentence means.
"""

from basanite.reading.baseline.reader import answer_records, read

__all__ = ["answer_records", "read"]
