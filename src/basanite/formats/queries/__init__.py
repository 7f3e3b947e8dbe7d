"""The query language, and packs of queries."""
