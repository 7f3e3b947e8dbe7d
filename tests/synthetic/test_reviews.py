"""The generator of reviews: files of the published shape, the same rows for the same seed, and something to learn."""

import csv
import json
from collections import Counter

import numpy as np
import pytest

from basanite.errors import SettingError
from basanite.synthetic.review_words import ASPECTS, BLAME, PRAISE, pool
from basanite.synthetic.reviews import BLOCK, COLUMNS, MARGINS, Knobs, reviews, write_reviews


@pytest.fixture(scope="module")
def many():
    return list(reviews(6_000, seed=3))


def test_reviews_have_the_published_lengths_and_share_restaurants(many):
    lengths = np.array([len(review.text) for review in many])
    words = np.array([len(review.text.split()) for review in many])
    assert lengths.min() >= 30
    assert lengths.max() <= 750
    assert abs(lengths.mean() - 248) < 8
    assert abs(words.mean() - 44) < 2
    houses = Counter(review.restaurant for review in many[:BLOCK])
    assert 40 < BLOCK / len(houses) < 47
    assert len({review.id for review in many}) == len(many)


def test_ratings_are_correlated_and_have_the_declared_margins(many):
    ratings = np.array([review.ratings for review in many])
    assert set(np.unique(ratings)) == {1, 2, 3, 4, 5}
    correlations = np.corrcoef(ratings.T)[np.triu_indices(5, 1)]
    assert correlations.min() > 0.08
    assert 0.55 < correlations.max() < 0.7
    shares = [np.bincount(column, minlength=6)[1:] / len(many) for column in ratings.T]
    assert np.abs(np.array(shares) - MARGINS).max() < 0.035


def test_a_row_does_not_depend_on_how_many_are_asked_for(many):
    assert list(reviews(40, seed=3)) == many[:40]
    beyond = list(reviews(BLOCK + 5, seed=3))
    assert beyond[BLOCK:] == many[BLOCK : BLOCK + 5]
    assert next(reviews(1, seed=4)).text != many[0].text


def test_a_good_food_rating_means_more_praise_of_food(many):
    praise, blame = (set(pool("food", praise=good).words) for good in (True, False))

    def leaning(rating):
        texts = " ".join(review.text.lower() for review in many if review.ratings[1] == rating)
        met = Counter(texts.replace(".", " ").replace("!", " ").split())
        good, bad = (sum(met[word] for word in words) for words in (praise, blame))
        return good / (good + bad)

    found = [leaning(rating) for rating in (1, 3, 5)]
    assert found == sorted(found)
    assert found[2] - found[0] > 0.4


@pytest.mark.parametrize("name", ["reviews.csv", "reviews.jsonl"])
def test_files_are_the_same_bytes_twice_and_hold_every_review(tmp_path, many, name):
    paths = tmp_path / name, tmp_path / f"again-{name}"
    for path in paths:
        write_reviews(path, 50, seed=3)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    text = paths[0].read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines())) if name.endswith("csv") else list(map(json.loads, text.splitlines()))
    assert tuple(rows[0]) == COLUMNS
    for row, review in zip(rows, many[:50], strict=True):
        assert row["text"] == review.text
        assert tuple(int(row[aspect]) for aspect in ASPECTS) == review.ratings


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(SettingError, match=r"\.csv or \.jsonl"):
        write_reviews(tmp_path / "reviews.xml", 3)
    with pytest.raises(SettingError, match="negative"):
        reviews(-1)


def test_knobs_change_what_reviews_say():
    plain = " ".join(review.text for review in reviews(300, knobs=Knobs(hearsay=0, negation=0, filler=0)))
    assert not any(word in plain for word in ("told us", " not ", "Parking"))


def test_no_adjective_praises_and_blames():
    praised = {word for text in PRAISE.values() for word in text.split()}
    blamed = {word for text in BLAME.values() for word in text.split()}
    assert not praised & blamed
