"""How well a feature space represents data: linear measures in one pass, quadratic ones in one sweep.

`classes` names the classes; `sums` is the additive state of the linear pass, `pairwise.pairs` that of the sweep over
all pairs; `ferm`, `spread` and `pairwise.pairs` turn states into values; `everything` does all of it in one call;
`draws` and `pairwise.pair_draws` give the resampled values that intervals are made of. The plain functions are in
`basanite.metrics.representation.cosine`, `clustering` and `transfer`.
"""
