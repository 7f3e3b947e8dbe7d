"""Charts of a report: points, axes, heat maps and strips, in one look."""
