"""What organisers do: keep plan and truth in versions, re-score, hear appeals and release, one act at a time."""
