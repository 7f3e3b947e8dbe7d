"""A season of evaluation: calendar, quotas, teams, versions of the truth, release policy and the jobs that score.

`model/` is pure and knows no database; `store/` is the only code that knows SQL; everything else is an act of somebody
(a team submits, an organiser releases) that reads and writes through one transaction.
"""
