"""Retrieval: detection files, TREC files, pools, query packs, and the summaries that judges see."""
