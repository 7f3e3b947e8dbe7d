"""Hidden checks: what is expected, and copies of items made worse."""

from __future__ import annotations

import pytest
from tests.work.making import new_ids, scheme_of

from basanite.work.answers import Judgement
from basanite.work.assignments import Judge
from basanite.work.controls import check_figures, degraded_copy, failing, meets_expectation
from basanite.work.items import Block, Item, item_of
from basanite.work.plans import plan_rounds

WORDS = ["The", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "near", "a", "quiet", "river", "bank"]


def segments(count):
    ids = new_ids()
    return [
        item_of(
            [Block("document", f"Quelle {at}"), Block("text", " ".join(f"{word}{at}" for word in WORDS))],
            {"system": "A", "document": f"d{at}"},
            new_id=ids.__next__,
        )
        for at in range(count)
    ]


@pytest.mark.parametrize(
    ("expected", "answers", "right"),
    [
        ({"verdict": "R"}, {"verdict": "R"}, True),
        ({"verdict": "R"}, {"verdict": "N"}, False),
        ({"verdict": "R"}, {}, False),
        ({"score": {"min": 60}}, {"score": 80}, True),
        ({"score": {"min": 60}}, {"score": 20}, False),
        ({"score": {"below": "other"}}, {"score": 20}, True),
        ({"score": {"below": "other"}}, {"score": 90}, False),
        ({"score": {"below": "unseen"}}, {"score": 90}, None),
        ({"errors": {"overlaps": [3, 6]}}, {"errors": [{"start": 5, "end": 9}]}, True),
        ({"errors": {"overlaps": [3, 6]}}, {"errors": [{"start": 6, "end": 9}]}, False),
        (None, {"verdict": "R"}, None),
    ],
)
def test_what_a_check_expects(expected, answers, right):
    check = Item("c", (), expected=expected, role="check")
    assert meets_expectation(check, answers, {"other": {"score": 50}}) is right


@pytest.mark.parametrize("preset", ["da", "esa", "mqm"])
def test_a_worse_copy_differs_in_one_run_of_words_and_expects_to_be_noticed(preset):
    scheme, pool = scheme_of(preset), segments(3)
    worse = degraded_copy(pool[0], pool, scheme, seed=1, new_id=lambda: "bad")
    before, after = pool[0].blocks[1].value.split(), worse.blocks[1].value.split()
    assert worse.blocks[0] == pool[0].blocks[0]
    assert worse.role == "check"
    changed = [at for at, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    assert len(changed) == 4
    assert changed[-1] - changed[0] == 3
    if preset == "mqm":
        start, end = worse.expected["errors"]["overlaps"]
        assert worse.blocks[1].value[start:end].split() == after[changed[0] : changed[-1] + 1]
    else:
        assert worse.expected == {"score": {"below": pool[0].id}}


def test_a_worse_copy_goes_to_the_judge_of_the_item_and_nobody_else():
    scheme, pool = scheme_of("da"), segments(12)
    ids = new_ids("bad")
    controls = [degraded_copy(item, pool, scheme, seed=2, new_id=ids.__next__) for item in pool]
    plan = plan_rounds([*pool, *controls], [Judge("a"), Judge("b")], scheme, 3)
    original = {control.id: control.facts["control_of"] for control in controls}
    for judge in ("a", "b"):
        mine = {each.item for each in plan.of(judge)}
        given = mine & original.keys()
        assert given
        assert all(original[control] in mine for control in given)


def test_an_item_without_text_or_without_donors_has_no_worse_copy():
    scheme, pool = scheme_of("da"), segments(1)
    assert degraded_copy(pool[0], pool, scheme, seed=1, new_id=lambda: "x") is None
    empty = item_of([Block("image", "digest")], new_id=lambda: "e")
    assert degraded_copy(empty, segments(3), scheme, seed=1, new_id=lambda: "x") is None


def test_a_judge_who_fails_checks_is_named_and_keeps_every_judgement():
    scheme = scheme_of("relevance")
    items = {f"c{at}": Item(f"c{at}", (), expected={"verdict": "R"}, role="check") for at in range(4)}
    given = [Judgement(name, "good", {"verdict": "R"}) for name in items]
    given += [Judgement(name, "bad", {"verdict": "N" if name != "c0" else "R"}) for name in items]
    figures = check_figures(items, given)
    assert (figures["good"].share, figures["bad"].share) == (1.0, 0.25)
    assert failing(scheme, figures) == ("bad",)
