"""The generated reviews are hard for few labels, and each layer of the deep learner makes them easier."""

import numpy as np

from basanite.harness.modules.bow import BagOfWords, tokenise
from basanite.harness.modules.logistic import Logistic
from basanite.harness.modules.msda import MarginalisedAutoencoder
from basanite.synthetic.reviews import reviews


def test_constant_words_one_two_three_layers_is_the_order_of_errors():
    made = list(reviews(5_000, seed=1))
    food = np.array([review.ratings[1] for review in made], np.float64)
    tokens, seen, labelled = tokenise([review.text for review in made]), np.arange(4_000), np.arange(1_000)
    bag, learner = BagOfWords(size=700, weight="binary"), MarginalisedAutoencoder(units=700, precision="float32")
    bag.fit(tokens[seen])
    words = bag.transform(tokens)
    learner.fit(words[seen])
    classifier, folds = Logistic(C=[0.1], tol=1e-4), np.split(labelled, 2)

    def error(rows):
        state = classifier.fit_many(rows[labelled], folds, food[labelled], classifier.grid())
        return np.sqrt(np.mean((classifier.score_many(state, rows[4_000:]) - food[4_000:]) ** 2))

    found = [food[4_000:].std(), error(words), *(error(learner.transform(words, layer)) for layer in (1, 2, 3))]
    assert found == sorted(found, reverse=True)
    assert found[1] - found[4] > 0.03
