"""Array backends that need an extra, found by entry point only."""
