"""Judging and annotation by people: schemes, items, rounds, texts and what comes of them; no database and no dice."""
