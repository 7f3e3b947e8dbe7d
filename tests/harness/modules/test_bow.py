"""Bag of words: against a loop over dictionaries and scikit-learn's tokeniser."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from basanite.harness.modules.bow import BagOfWords, prepare, restore_tokens, tokenise
from basanite.harness.steps.store import Store

texts = st.lists(st.text(alphabet="abcAB .,é_1\u0301", max_size=25), max_size=8)


def plain_bag(items, size):
    """The words chosen and the counts, one word after the other."""
    cut = [re.findall(r"\b\w\w+\b", item.lower()) for item in items]
    totals = Counter(word for words in cut for word in words)
    chosen = sorted(totals, key=lambda word: (-totals[word], word))[:size]
    return chosen, [[words.count(word) for word in chosen] for words in cut]


@given(texts, st.integers(1, 6))
def test_the_first_words_by_count_and_spelling_are_counted(items, size):
    bag = BagOfWords(size=size)
    bag.fit(items)
    chosen, wanted = plain_bag(items, size)
    assert list(bag.vocabulary) == chosen
    assert bag.transform(items).toarray().tolist() == (wanted if chosen else [[] for _ in items])


def test_words_are_cut_as_scikit_learn_cuts_them(some_reviews):
    items = [review.text for review in some_reviews[:200]]
    peer = CountVectorizer().fit(items)
    tokens = tokenise(items)
    assert list(tokens.words) == peer.get_feature_names_out().tolist()
    assert (tokens.counts != peer.transform(items)).nnz == 0


@given(texts, st.permutations(range(8)))
def test_the_order_of_rows_is_nothing(items, order):
    shuffled = [items[place] for place in order if place < len(items)]
    bags = [BagOfWords(size=3), BagOfWords(size=3)]
    for bag, rows in zip(bags, (items, shuffled), strict=True):
        bag.fit(rows)
    assert bags[0].vocabulary == bags[1].vocabulary


def test_rows_that_were_cut_beforehand_give_the_same(some_reviews, tmp_path):
    items = [review.text for review in some_reviews[:80]]
    store = Store(tmp_path)
    store.save("ab" * 32, prepare(items))
    kept = restore_tokens(store.load("ab" * 32))
    whole, parts = BagOfWords(size=50), BagOfWords(size=50)
    whole.fit(items[:40])
    parts.fit(kept[np.arange(40)])
    assert whole.vocabulary == parts.vocabulary
    assert (whole.transform(items[40:]) != parts.transform(kept[np.arange(40, 80)])).nnz == 0
    assert len(kept) == 80


def test_words_that_were_not_there_at_the_fit_are_left_out():
    bag = BagOfWords()
    bag.fit(["good soup"])
    assert bag.transform(["bad soup soup", "", "\x00 новый"]).toarray().tolist() == [[0, 2], [0, 0], [0, 0]]


@pytest.mark.parametrize(("weight", "wanted"), [("count", [2, 1]), ("binary", [1, 1]), ("tf", [0.5, 0.25])])
def test_weights(weight, wanted):
    bag = BagOfWords(size=2, weight=weight)
    bag.fit(["good good soup"])
    assert bag.transform(["good soup good bread"]).toarray().tolist() == [wanted]
