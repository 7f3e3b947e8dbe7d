"""Small detection problems, and their values by brute force with exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from tests.golden import oracle_clir

from basanite.metrics.retrieval.query_value import Detections

BETA = 20


@st.composite
def tables(draw, *, most_queries=6, most_documents=8, levels=5):
    """Truth, decisions and scores of some queries over some documents; few distinct scores, so that many are equal."""
    queries = draw(st.integers(1, most_queries))
    documents = draw(st.integers(1, most_documents))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    share = draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    relevant = rng.random((queries, documents)) < share
    returned = rng.random((queries, documents)) < rng.random()
    steps = np.array([0, 1, 50_000, 99_999, 100_000])[:levels] if draw(st.booleans()) else np.arange(100_001)
    return relevant, returned, rng.choice(steps, (queries, documents)).astype(np.int32)


def block(relevant, returned, score):
    names = [f"q{number:03}" for number in range(len(relevant))]
    return Detections(names, np.asarray(relevant, bool), np.asarray(returned, bool), np.asarray(score, np.int32))


def pairs(relevant, returned, score):
    """The same as the independent scorer wants it."""
    return {
        f"q{query:03}": {
            f"d{document:03}": (
                bool(relevant[query, document]),
                bool(returned[query, document]),
                Fraction(int(score[query, document]), 100_000),
            )
            for document in range(relevant.shape[1])
        }
        for query in range(relevant.shape[0])
    }


def exactly(relevant, returned, score, beta=BETA):
    """Every value by brute force; nan where it is undefined."""
    found = oracle_clir.values(pairs(relevant, returned, score), Fraction(beta))
    return {name: float("nan") if value is None else float(value) for name, value in found.items()}
