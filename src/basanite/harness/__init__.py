"""The protocol harness: one plan file, six conditions, folds, learners and classifiers, and verdicts on the claims."""
