"""Scores that other programs gave: tables and logs, read into trials of items."""
