"""`basanite admin`: the plan of a season, its data and truth, what came in and what is let out."""
