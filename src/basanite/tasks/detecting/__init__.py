"""What the detection tasks are built of: rows, thresholds, tables, figures and advice."""
