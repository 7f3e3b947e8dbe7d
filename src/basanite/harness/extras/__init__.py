"""What can be asked beyond the plan's graphs: learning curves, layers, invariance; kept like other steps."""
