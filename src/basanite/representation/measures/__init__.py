"""How well a feature space represents data: linear measures in one pass, quadratic ones in one sweep.

`results` names classes, flags and values; `sums` is the additive state of the linear pass, `pairs` that of the sweep
over all pairs; `ferm`, `spread`, `cluster_measures` and `transfer` turn states into values; `all_measures` does all of
it in one call; `resamples` gives the values that intervals are made of.
"""
