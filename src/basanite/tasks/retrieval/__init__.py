"""What tasks that retrieve or detect share: decisions of queries, their mistakes, charts and thresholds."""
