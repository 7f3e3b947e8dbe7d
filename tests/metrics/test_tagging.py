"""Entities against seqeval itself: both ways of reading tags, all schemes, all means."""

import math
import random
import warnings

import pytest
from seqeval import scheme as seqeval_schemes
from seqeval.metrics import sequence_labeling
from seqeval.metrics.v1 import precision_recall_fscore_support as strictly

from basanite.metrics.text.tagging import METRICS, SCHEMES, Tagged, entities, scheme_of, statistics

TYPES = ("A-B", "LOC", "PER")


def drawn(dice, letters, size):
    tags = ["O", *(f"{one}-{kind}" for one in letters if one != "O" for kind in TYPES)]
    return dice.choices(tags, k=size)


def of_seqeval(gold, answers, name):
    found = {"accuracy": sequence_labeling.accuracy_score(gold, answers)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for mean, ending in (("micro", ""), ("macro", "_macro")):
            lenient = sequence_labeling.precision_recall_fscore_support(gold, answers, average=mean)
            strict = strictly(gold, answers, average=mean, scheme=getattr(seqeval_schemes, name))
            for at, value in enumerate(("precision", "recall", "f1")):
                found[f"{value}{ending}"], found[f"strict_{value}{ending}"] = lenient[at], strict[at]
    return found


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("seed", range(12))
def test_every_value_is_that_of_seqeval(name, seed):
    dice, letters = random.Random(seed), SCHEMES[name].tags
    gold = [drawn(dice, letters, dice.randint(1, 9)) for _ in range(6)] + [["B-PER" if "B" in letters else "E-PER"]]
    answers = [[tag if dice.random() < 0.7 else drawn(dice, letters, 1)[0] for tag in one] for one in gold]
    rows = statistics(Tagged(gold, answers, name, TYPES))
    wanted = of_seqeval(gold, answers, name)
    for metric in METRICS:
        if name == "BILOU" and not metric.name.startswith(("strict", "accuracy")):
            continue  # seqeval itself knows no L and U by default
        value = metric.bind(undefined=0.0).of(rows)
        assert (0 if math.isnan(value) else value) == pytest.approx(wanted[metric.name], abs=1e-12), metric.name


def test_letters_of_bilou_are_those_of_iobes_by_other_names():
    turned = str.maketrans("LU", "ES")
    tags = ["B-X", "L-X", "U-X", "U-X", "O", "B-Y", "I-Y", "L-Y"]
    assert entities(tags) == entities([tag.translate(turned) for tag in tags])
    assert len(entities(tags)) == 4


def test_schemes_are_told_by_their_letters():
    told = {"IOE2": [["I-X", "E-X"]], "IOBES": [["B-X", "E-X"]], "IOB1": [["I-X", "B-X"]], "labels": [["NN", "O"]]}
    assert {name: scheme_of(tags) for name, tags in told.items()} == {name: name for name in told}
    assert scheme_of([["O", "O"]]) == "IOB2"
