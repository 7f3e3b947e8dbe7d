"""A season played beforehand, to find what would have gone wrong while it can still be mended (P-30)."""
