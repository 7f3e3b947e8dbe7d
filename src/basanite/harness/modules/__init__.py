"""Modules that a plan can name: feature extractors, preprocessors, learners and classifiers, found by entry point."""
