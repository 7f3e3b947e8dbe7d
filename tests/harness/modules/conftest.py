"""Small made-up data that the tests of modules share."""

import numpy as np
import pytest

from basanite.harness.modules.bow import BagOfWords, tokenise
from basanite.synthetic.reviews import reviews


@pytest.fixture(scope="session")
def some_reviews():
    return list(reviews(700, seed=5))


@pytest.fixture(scope="session")
def food(some_reviews):
    """The rating of the food, as a number."""
    return np.array([review.ratings[1] for review in some_reviews], np.float64)


@pytest.fixture(scope="session")
def counts(some_reviews):
    """Counts of the 400 most frequent words."""
    tokens = tokenise([review.text for review in some_reviews])
    bag = BagOfWords(size=400)
    bag.fit(tokens)
    return bag.transform(tokens)


@pytest.fixture(scope="session")
def folds():
    """Four folds of 60 rows."""
    return [np.arange(240)[place::4] for place in range(4)]
