"""Detection files: one line per document with a decision and a confidence, fast and exactly; TREC files beside."""
