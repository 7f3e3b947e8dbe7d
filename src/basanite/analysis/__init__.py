"""Analysis: from rows per unit to values with intervals, breakdowns, comparisons and rankings."""
