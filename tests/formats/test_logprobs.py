"""Log-probabilities as people write them, and all that is none."""

import math

import pytest

from basanite.formats.items import ContentError
from basanite.formats.texts.logprobs import Likelihood, likelihood, token_count


def read(fields, base=math.e, *, end_counts=True):
    return likelihood(fields, base=base, end_counts=end_counts)


def test_a_list_and_its_sum_say_the_same():
    assert read({"logprobs": [-1.0, -0.5, -2.0]}) == read({"logprob": -3.5, "tokens": 3}) == Likelihood(-3.5, 3, 0)


@pytest.mark.parametrize("base", [2.0, 10.0])
def test_bases_are_turned_into_the_natural_one(base):
    assert read({"logprobs": [-1, -2]}, base).log_probability == pytest.approx(-3 * math.log(base))
    assert read({"logprob": -3, "tokens": 2}, base).log_probability == pytest.approx(-3 * math.log(base))


def test_the_end_of_a_sentence_can_be_left_out():
    assert read({"logprobs": [-1.0, -0.5, -2.0]}, end_counts=False) == Likelihood(-1.5, 2, 0)
    with pytest.raises(ContentError, match="does not separate the end"):
        read({"logprob": -3.5, "tokens": 3}, end_counts=False)
    with pytest.raises(ContentError, match="no token for the end"):
        read({"logprobs": []}, end_counts=False)


@pytest.mark.parametrize("zero", ["-inf", "-Infinity"])
def test_a_zero_probability_is_counted_apart(zero):
    assert read({"logprobs": [-1.0, zero]}) == Likelihood(-1.0, 2, 1)
    assert read({"logprob": zero, "tokens": 4}) == Likelihood(0.0, 4, 1)


def test_the_rounding_of_small_numbers_is_no_mistake():
    assert read({"logprobs": [1e-7, -0.0]}) == Likelihood(0.0, 2, 0)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "neither logprobs nor a logprob"),
        ({"logprobs": [-1], "logprob": -1, "tokens": 1}, "both"),
        ({"logprobs": "-1"}, "not a list"),
        ({"logprobs": [-1, None]}, "logprob 2 is null"),
        ({"logprobs": [-1, 0.5]}, "logprob 2 is 0.5, and no probability is more than 1"),
        ({"logprobs": [True]}, "not a number"),
        ({"logprobs": ["nan"]}, "not a number"),
        ({"logprobs": ["inf"]}, "more than 1"),
        ({"logprobs": [[-1]]}, "not a number"),
        ({"logprob": -1}, "tokens is not a number of tokens"),
        ({"logprob": -1, "tokens": -3}, "tokens is not a number of tokens"),
        ({"logprob": -1, "tokens": 1.5}, "tokens is not a number of tokens"),
        ({"logprob": -1, "tokens": 0}, "no token has a probability other than 1"),
    ],
)
def test_what_is_no_log_probability_is_refused(fields, words):
    with pytest.raises(ContentError, match=words):
        read(fields)


def test_token_counts_are_whole_numbers():
    assert [token_count({"tokens": found}) for found in (3, "4", 0)] == [3, 4, 0]
    with pytest.raises(ContentError):
        token_count({"tokens": True})
