"""`basanite admin`: judges, annotators and readers, and what comes of their work."""
