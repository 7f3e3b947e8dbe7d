"""Tables of judges x items, and the same as votes in any order."""

import numpy as np
from hypothesis import strategies as st

from basanite.analysis.votes import votes_of

FIVE = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, np.nan, np.nan, 1], [1, np.nan, np.nan, np.nan, 0]], float)


@st.composite
def panels(draw):
    """A table of judges x items with 0, 1 or nan."""
    judges, items = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    cells = st.lists(st.sampled_from([0, 1, np.nan]), min_size=items, max_size=items)
    return np.array(draw(st.lists(cells, min_size=judges, max_size=judges)), dtype=float)


def votes_in(table):
    """A table as votes, in an order that means nothing."""
    judge, item = np.nonzero(~np.isnan(table))
    order = np.random.default_rng(len(judge)).permutation(len(judge))
    judge, item = judge[order], item[order]
    return votes_of(judge, item, table[judge, item] == 1, judges=len(table), items=table.shape[1])
