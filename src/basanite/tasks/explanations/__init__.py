"""Metrics of our tasks worked out on one unit, by field; each module has the explanations of one or two tasks."""
