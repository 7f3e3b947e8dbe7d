"""Judging by people: schemes, items, rounds, and the files that judgements become; no database and no dice."""
