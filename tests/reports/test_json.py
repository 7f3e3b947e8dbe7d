"""The JSON contract: exact bytes, undefined and infinite numbers, ten digits."""

import json
import math
from dataclasses import replace

import examples
import pytest

from basanite.analysis.results import (
    Analysis,
    Comparison,
    Design,
    Difference,
    Ranking,
    Value,
    compare_object,
    score_object,
)
from basanite.canonical import dumps, ten_digits
from basanite.kernel import Scores

GOLDEN = """\
{
  "breakdowns": {
    "genre": {
      "NT": {
        "aqwv": {
          "flags": [],
          "high": 0.5,
          "low": 0.25,
          "parts": {},
          "undefined": 0,
          "units": 20,
          "value": 0.375
        }
      }
    }
  },
  "digests": {
    "reference": "sha256:00",
    "submission": "sha256:11"
  },
  "format": "basanite-result/1",
  "notes": [
    "über \\u202eall"
  ],
  "primary": "aqwv",
  "settings": {
    "beta": 40.0,
    "draws": 1000,
    "interval": "metric",
    "level": 0.95,
    "seed": 0
  },
  "signature": "s",
  "task": "clir",
  "values": {
    "aqwv": {
      "flags": [],
      "high": 0.5,
      "infinite_parts": {
        "theta": "+"
      },
      "low": 0.0,
      "parts": {
        "theta": null
      },
      "undefined": 0,
      "units": 30,
      "value": 0.3333333333
    }
  }
}
"""


def small() -> Analysis:
    digests = {"submission": "sha256:11", "reference": "sha256:00"}
    scores = Scores("clir", "A", (), {}, "aqwv", {"beta": 40.0}, digests, ("über \u202eall",))
    values = {"aqwv": Value(1 / 3, -0.0, 0.5, 30, parts={"theta": math.inf})}
    return Analysis(scores, values, {"genre": {"NT": {"aqwv": Value(0.375, 0.25, 0.5, 20)}}}, Design(), "s")


def test_score_writes_exactly_these_bytes():
    assert dumps(score_object(small())) == GOLDEN


def test_numbers_have_ten_significant_digits():
    assert ten_digits(2 / 3) == 0.6666666667
    assert ten_digits(123456789012.0) == 123456789000.0
    assert math.copysign(1, ten_digits(-0.0) or 0.0) == 1


def test_an_undefined_value_is_null_with_a_note_and_never_zero():
    value = score_object(replace(small(), values={"aqwv": Value(math.nan, None, None, 0, 3, ("no unit",))}))["values"]
    assert value["aqwv"]["value"] is None
    assert value["aqwv"]["note"] == "no unit"


@pytest.mark.parametrize(("number", "sign"), [(math.inf, "+"), (-math.inf, "-")])
def test_an_infinite_value_is_null_with_its_sign(number, sign):
    value = score_object(replace(small(), values={"aqwv": Value(number, None, number, 9)}))["values"]["aqwv"]
    assert (value["value"], value["infinite"], value["infinite_high"]) == (None, sign, sign)


def test_compare_holds_the_keys_of_the_contract():
    ranking = Ranking("aqwv", ("A", "B"), (("A",), ("B",)), {"A": (1, 1), "B": (2, 2)}, ("A",))
    difference = Difference("aqwv", "A", "B", 0.1, 0.05, 0.15, 0.001, 0.001, "first")
    comparison = Comparison(
        "clir", ("A", "B"), {"A": small(), "B": small()}, (difference,), {"aqwv": ranking}, 1, 10000
    )
    data = compare_object(comparison)
    assert data["systems"] == ["A", "B"]
    assert data["groups"] == {"aqwv": [["A"], ["B"]]}
    assert data["rank_ranges"] == {"aqwv": {"A": [1, 1], "B": [2, 2]}}
    assert data["family"] == {"size": 1, "draws": 10000}
    wanted = {"metric", "first", "second", "difference", "low", "high", "p", "p_adjusted", "verdict"}
    assert wanted <= data["differences"][0].keys()


def test_what_is_written_reads_back_with_odd_names():
    name = examples.HOSTILE + "\ud800\x07"
    assert json.loads(dumps({name: 1}).encode()) == {name: 1}
