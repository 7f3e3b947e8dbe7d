"""Agreement of annotators, held against counting by hand, character by character (R-15, S-20)."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from basanite.work.annotation.agreement import Annotations, agreement
from basanite.work.annotation.alignment import align
from basanite.work.annotation.config import read_config
from basanite.work.annotation.events import Mention, Object, State

CONFIG = """annotation: small
version: 1
namespace: "https://a.example/a#"
categories:
  Team: {repeat: "0..", value: text, mention: span}
  Place: {repeat: "0..", mention: span}
assert:
  - {for: Team, mint: "?t", then: ["?t type Team"], provenance: {subject: mention}}
  - {for: Place, mint: "?p", then: ["?p type Place"], provenance: {subject: mention}}
"""
ONTOLOGY = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
<https://a.example/a> a owl:Ontology .
<https://a.example/a#Team> a owl:Class ; <urn:basanite:reading:mark> <urn:basanite:reading:target> .
<https://a.example/a#Place> a owl:Class ; <urn:basanite:reading:mark> <urn:basanite:reading:target> .
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    folder = tmp_path_factory.mktemp("config")
    (folder / "ontology.ttl").write_text(ONTOLOGY)
    found, problems = read_config(CONFIG, folder)
    assert found is not None, problems
    return found


def state(*spans):
    """A state with one object for each (category, start, end) or (category, start, end, value)."""
    objects = {}
    for at, (category, start, end, *value) in enumerate(spans):
        fields = {"value": value[0]} if value else {}
        mentions = {"mention": (Mention(f"m{at}", ((start, end),)),)}
        objects[f"o{at}"] = Object(f"o{at}", category, "", fields, mentions)
    return State(objects)


SPANS = st.lists(
    st.tuples(st.sampled_from(["Team", "Place"]), st.integers(0, 18), st.integers(1, 5)).map(
        lambda one: (one[0], one[1], one[1] + one[2])
    ),
    max_size=5,
)
PAIRS = st.lists(st.tuples(SPANS, SPANS), min_size=1, max_size=4)


@settings(max_examples=80, deadline=None)
@given(PAIRS)
def test_f1_of_a_category_is_what_counting_by_hand_gives(config, pairs):
    texts = [Annotations(f"d{at}", 30, (state(*one), state(*other))) for at, (one, other) in enumerate(pairs)]
    found = agreement(config, texts, draws=0).categories["Team"]
    exact = overlap = total = 0
    for one, other in pairs:
        mine, theirs = ([span for span in side if span[0] == "Team"] for side in (one, other))
        total += len(mine) + len(theirs)
        left = list(theirs)
        for span in mine:
            if span in left:
                left.remove(span)
                exact += 2
        for side, against in ((mine, theirs), (theirs, mine)):
            covered = {at for _, start, end in against for at in range(start, end)}
            overlap += sum(any(at in covered for at in range(start, end)) for _, start, end in side)
    if not total:
        assert not found.exact.is_defined
        assert found.exact.reason
        return
    assert found.exact.value == pytest.approx(exact / total)
    assert found.overlap.value == pytest.approx(overlap / total)
    assert found.exact.value <= found.overlap.value


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("TP"), st.sampled_from("TP")), min_size=1, max_size=30))
def test_kappa_of_labels_on_the_same_words_is_scikit_learns_in_both_orders(config, labels):
    names = {"T": "Team", "P": "Place"}
    one = state(*((names[a], at * 3, at * 3 + 2) for at, (a, _) in enumerate(labels)))
    other = state(*((names[b], at * 3, at * 3 + 2) for at, (_, b) in enumerate(labels)))
    found = agreement(config, [Annotations("d", 100, (one, other))], draws=0)
    assert found.spans.exact.value == 1.0
    assert found.labels.share.value == pytest.approx(sum(a == b for a, b in labels) / len(labels))
    first, second = [a for a, _ in labels] + [b for _, b in labels], [b for _, b in labels] + [a for a, _ in labels]
    if len(set(first)) < 2:
        assert not found.labels.kappa.is_defined
        assert found.labels.kappa.reason
    else:
        assert found.labels.kappa.value == pytest.approx(cohen_kappa_score(first, second))


def test_where_nothing_can_be_said_the_reason_is(config):
    empty = agreement(config, [])
    assert empty.texts == 0
    for one in (empty.spans.exact, empty.spans.overlap, empty.spans.alpha, empty.labels.kappa):
        assert not one.is_defined
        assert one.reason
    alone = agreement(config, [Annotations("d", 9, (state(("Team", 0, 3)),))])
    assert alone.texts == 0
    nothing = agreement(config, [Annotations("d", 9, (State(), State()))])
    assert nothing.spans.exact.reason == "nobody marked anything"
    assert nothing.as_dict()["spans"]["exact"]["value"] is None


def test_overlapping_spans_of_one_label_and_more_than_two_annotators_are_counted(config):
    three = [state(("Team", 0, 4), ("Team", 2, 6)), state(("Team", 0, 4)), state(("Team", 0, 6))]
    found = agreement(config, [Annotations("d", 20, tuple(three))], draws=10)
    assert found.spans.mentions == 4
    # Pairs: 2 of 3, 0 of 3, 0 of 2 mentions have an equal partner.
    assert found.spans.exact.value == pytest.approx(2 / 8)
    assert found.spans.overlap.value == 1.0
    assert found.spans.alpha.is_defined


def test_whole_texts_are_drawn_for_the_interval_and_the_seed_decides(config):
    texts = [Annotations(f"d{at}", 30, (state(("Team", 0, 4)), state(("Team", 0, 4 + at % 2)))) for at in range(40)]
    found, again = (agreement(config, texts, draws=400, seed=3).spans.exact for _ in range(2))
    assert found == again
    assert found.low < found.value == 0.5 < found.high
    # The variance of a mean of 40 texts, half of them 1 and half 0.
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.5 / 40**0.5, rel=0.25)


def values(aligned):
    return [tuple(None if side is None else side.fields.get("value") for side in one.sides) for one in aligned]


def test_pairs_are_the_best_there_are_together(config):
    spans = [(0, 4), (2, 6), (5, 9)]
    others = [(1, 4), (5, 8), (30, 34)]
    one = state(*(("Team", *span, f"a{at}") for at, span in enumerate(spans)))
    other = state(*(("Team", *span, f"b{at}") for at, span in enumerate(others)))
    found = align(config, [one, other])
    assert sorted(values(found), key=str) == sorted([("a0", "b0"), ("a1", None), ("a2", "b1"), (None, "b2")], key=str)
    assert all(("there" in pair.differs) == (None in sides) for pair, sides in zip(found, values(found), strict=True))


@settings(max_examples=60, deadline=None)
@given(PAIRS.map(lambda pairs: pairs[0]))
def test_nothing_is_lost_or_doubled_whatever_is_stacked_on_what(config, pair):
    states = [state(*side) for side in pair]
    found = align(config, states)
    for at, one in enumerate(states):
        sides = [pair.sides[at].id for pair in found if pair.sides[at] is not None]
        assert sorted(sides) == sorted(one.objects)
    assert len({pair.key for pair in found}) == len(found)
    same = align(config, [states[0], states[0]])
    assert all(pair.unanimous for pair in same)
    assert len(same) == len(states[0].objects)


def test_a_thousand_marks_that_agree_are_paired_at_once(config):
    many = state(*(("Team", at * 5, at * 5 + 3, str(at % 7)) for at, _ in product(range(1500), [0])))
    found = align(config, [many, many])
    assert len(found) == 1500
    assert all(pair.unanimous for pair in found)
