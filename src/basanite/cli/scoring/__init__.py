"""Commands for scoring at home: check, pack, score, compare, advise, explore, pool, and list what there is."""
