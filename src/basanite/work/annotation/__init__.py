"""Annotation: a configuration language, a log of events, and what they assert in the terms of an ontology."""
