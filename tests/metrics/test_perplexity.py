"""Perplexity: one number by two formulas, infinite with a zero, undefined without a token."""

import math
from fractions import Fraction

import numpy as np
import pytest

from basanite.metrics.text.perplexity import PERPLEXITY, Likelihoods, perplexity, statistics


def root(probabilities):
    """The N-th root of one over the product, in exact fractions: the product of so many would be 0 as a float."""
    product = math.prod(Fraction(one) for one in probabilities)
    logarithm = math.log(product.denominator) - math.log(product.numerator)
    return product, math.exp(logarithm / len(probabilities))


@pytest.mark.parametrize("size", [3, 40, 2000])
def test_both_formulas_give_one_number_also_where_the_product_is_too_small_for_a_float(size):
    rng = np.random.default_rng(size)
    probabilities = (rng.random(size) ** 4 * 0.5 + 1e-9).tolist()
    exact, wanted = root(probabilities)
    if size == 2000:
        assert float(exact) == 0.0
        assert math.prod(probabilities) == 0.0
    tokens = [math.log(one) for one in probabilities]
    assert perplexity([tokens]) == pytest.approx(wanted, rel=1e-12)
    assert perplexity([tokens[: size // 2], tokens[size // 2 :]]) == pytest.approx(wanted, rel=1e-12)


def test_it_is_that_of_nltk_in_base_2():
    """nltk's formula: 2 to the cross-entropy; its own model gives the probabilities."""
    from nltk.lm import Lidstone
    from nltk.lm.preprocessing import padded_everygram_pipeline

    texts = [["a", "b", "a"], ["b", "c"]]
    model = Lidstone(0.1, 2)
    model.fit(*padded_everygram_pipeline(2, texts))
    bigrams = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "a")]
    logs = [model.logscore(second, [first]) for first, second in bigrams]
    assert perplexity([logs], base=2) == pytest.approx(model.perplexity(bigrams), rel=1e-12)


@pytest.mark.parametrize("base", [2, 10, math.e])
def test_a_fair_die_has_six_faces_in_every_base(base):
    assert perplexity([[-math.log(6) / math.log(base)] * 5], base=base) == pytest.approx(6, rel=1e-12)


def test_a_zero_probability_makes_it_infinite_and_only_where_it_counts():
    rows = statistics(Likelihoods(["a", "b"], *np.array([[-2.0, -1.0], [2, 1], [0, 1]])))
    assert np.isfinite(rows).all()
    assert PERPLEXITY.of(rows) == math.inf
    assert PERPLEXITY.value(np.array([1.0, 0.0]) @ rows) == pytest.approx(math.e)


def test_without_a_token_it_is_undefined():
    assert math.isnan(perplexity([]))
    assert math.isnan(perplexity([[]]))


def test_a_gap_of_logits_that_underflows_elsewhere_is_a_number_here():
    assert perplexity([[-200.0]]) == pytest.approx(math.exp(200))
    assert perplexity([[-2000.0]]) == math.inf
