"""The data layer: items, targets and groups of a data set, its splits, and the seal on them.

What leaves it: items without targets to preprocessors, one target's training values to its classifier, and the truth of
the test rows to the scorer alone (H-2, A9).
"""
