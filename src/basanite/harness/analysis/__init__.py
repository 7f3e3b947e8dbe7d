"""What a run of the protocol says: standard errors as ruled, contrasts with intervals, verdicts on the claims."""
