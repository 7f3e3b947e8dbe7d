"""Measuring one set of features: values with intervals, by class and by group, and the worst rows."""
