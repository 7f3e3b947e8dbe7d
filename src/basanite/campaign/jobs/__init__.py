"""Work that goes on after a request: checking, scoring, comparing, telling; each job ends, whatever is killed (P-8)."""
