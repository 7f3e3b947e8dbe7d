"""Every change is an event: replayed it always comes to the same, and undo and redo know no limit (R-15)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.work.annotation.corpus import nfl_config

from basanite.work.annotation.events import LONGEST_TEXT, MOST_PARTS, MOST_UNDONE, Event, State, single_id
from basanite.work.annotation.replay import check, event_of, receive, replay

CONFIG = nfl_config()
FEW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def event(id_: str, kind: str, **data: object) -> Event:
    return Event(id_, kind, data)


GAME = event("e1", "create", object="g1", category="Game", parent="")
TEAM = event("e2", "create", object="t1", category="Team", parent="g1")
NAME = event("e3", "set", object="t1", field="name", value="NewYorkJets")
SCORE = event("e4", "set", object="t1/Score", field="value", value="17")
WORDS = event("e5", "span.add", object="t1/Score", field="mention", parts=[[3, 5]])
ROW = event("e6", "row.add", object="r1", category="Event", parent="t1")
FIRST = [GAME, TEAM, NAME, SCORE, WORDS, ROW]

OBJECTS = ["g1", "g2", "t1", "t2", "r1", "c1", "g1/Overtime", "t1/Score", "t1/Status", "t2/Score", "nobody"]
SOME_EVENTS = st.one_of(
    st.builds(lambda o, p, c: ("create", {"object": o, "parent": p, "category": c}),
              st.sampled_from(["g1", "g2", "t1", "t2", "c1"]), st.sampled_from(["", "g1", "g2", "t1"]),
              st.sampled_from(["Game", "Team", "CalledBy"])),
    st.builds(lambda p: ("row.add", {"object": "r1", "parent": p, "category": "Event"}), st.sampled_from(["t1", "t2"])),
    st.builds(lambda o: ("remove", {"object": o}), st.sampled_from(OBJECTS)),
    st.builds(lambda o, f, v: ("set", {"object": o, "field": f, "value": v}), st.sampled_from(OBJECTS),
              st.sampled_from(["name", "value", "count"]), st.sampled_from(["", "1", "won", "NewYorkJets"])),
    st.builds(lambda o, s, n: ("span.add", {"object": o, "field": "mention", "parts": [[s, s + n]]}),
              st.sampled_from(OBJECTS), st.integers(0, 5), st.integers(1, 5)),
    st.builds(lambda o, n: ("span.remove", {"object": o, "field": "mention", "mention": f"e{n}"}),
              st.sampled_from(OBJECTS), st.integers(0, 20)),
    st.builds(lambda o, v: ("inferred", {"object": o, "value": v}), st.sampled_from(OBJECTS), st.booleans()),
    st.builds(lambda o: ("note", {"object": o, "text": "odd"}), st.sampled_from(["", *OBJECTS])),
    st.builds(lambda kind, ns: (kind, {"events": [f"e{n}" for n in ns]}), st.sampled_from(["undo", "redo"]),
              st.lists(st.integers(0, 20), min_size=1, max_size=3)),
    st.sampled_from([("done", {}), ("reopen", {})]),
)  # fmt: skip
LOGS = st.lists(SOME_EVENTS, max_size=25).map(
    lambda several: [Event(f"e{number}", kind, data) for number, (kind, data) in enumerate(several)]
)


def content(state: State) -> object:
    return state.objects, state.note, state.done, state.undone, state.idle, state.undo, state.redo


def test_events_come_to_objects_with_fields_words_and_parts():
    state = replay(CONFIG, FIRST)
    assert list(state.objects) == ["g1", "t1", "t1/Score", "r1"]
    assert state.objects["t1"].fields == {"name": "NewYorkJets"}
    assert [one.parts for one in state.objects["t1/Score"].mentions["mention"]] == [((3, 5),)]
    assert [one.id for one in state.children("t1", "Event")] == ["r1"]
    assert state.undo == ("e6",)


def test_undo_goes_back_to_nothing_one_step_after_the_other_and_redo_to_the_end():
    log = list(FIRST)
    whole = replay(CONFIG, log)
    for number in range(len(FIRST)):
        log.append(event(f"u{number}", "undo", events=list(replay(CONFIG, log).undo)))
    assert (replay(CONFIG, log).objects, replay(CONFIG, log).undo) == ({}, ())
    for number in range(len(FIRST)):
        log.append(event(f"r{number}", "redo", events=list(replay(CONFIG, log).redo)))
    assert content(replay(CONFIG, log)) == content(whole)


def test_a_new_change_after_an_undo_leaves_nothing_to_redo():
    log = [*FIRST, event("u1", "undo", events=["e6"])]
    assert replay(CONFIG, log).redo == ("e6",)
    assert replay(CONFIG, [*log, event("n1", "note", object="", text="x")]).redo == ()


def test_events_of_one_group_are_undone_together():
    both = [
        event("a1", "span.add", object="g1", field="mention", parts=[[0, 2]], group="k1"),
        event("a2", "span.add", object="g1", field="mention", parts=[[4, 6]], group="k1"),
    ]
    state = replay(CONFIG, [GAME, *both])
    assert state.undo == ("a1", "a2")
    undone = replay(CONFIG, [GAME, *both, event("u", "undo", events=["a1", "a2"])])
    assert (undone.objects["g1"].mentions, undone.redo, undone.undo) == ({}, ("a1", "a2"), ("e1",))


def test_undoing_a_removal_brings_back_the_thing_with_all_its_parts():
    log = [*FIRST, event("e7", "remove", object="g1")]
    assert replay(CONFIG, log).objects == {}
    back = replay(CONFIG, [*log, event("u", "undo", events=["e7"])])
    assert back.objects == replay(CONFIG, FIRST).objects


def test_undoing_the_making_of_a_thing_takes_away_what_was_said_of_it_until_it_is_done_again():
    log = [*FIRST, event("u", "undo", events=["e2"])]
    state = replay(CONFIG, log)
    assert list(state.objects) == ["g1"]
    assert set(state.idle) == {"e3", "e4", "e5", "e6"}
    assert replay(CONFIG, [*log, event("r", "redo", events=["e2"])]).objects == replay(CONFIG, FIRST).objects


def test_undoing_what_is_said_of_a_removed_thing_counts_once_the_thing_is_back():
    log = [*FIRST, event("e7", "remove", object="t1"), event("u1", "undo", events=["e4"])]
    assert "t1" not in replay(CONFIG, log).objects
    back = replay(CONFIG, [*log, event("u2", "undo", events=["e7"])])
    assert "value" not in back.objects["t1/Score"].fields
    assert back.objects["t1"].fields == {"name": "NewYorkJets"}


def test_two_tabs_that_fill_in_the_same_field_of_a_form_mean_the_same_object():
    one = event("a", "set", object=single_id("t1", "Score"), field="value", value="17")
    other = event("b", "span.add", object=single_id("t1", "Score"), field="mention", parts=[[0, 2]])
    for order in ([one, other], [other, one]):
        score = replay(CONFIG, [GAME, TEAM, *order]).objects["t1/Score"]
        assert (score.fields, len(score.mentions["mention"])) == ({"value": "17"}, 1)


def test_what_another_tab_says_of_a_removed_thing_is_kept_and_counts_after_undo():
    before = [*FIRST, event("gone", "remove", object="t1")]
    late = event("late", "set", object="t1", field="name", value="ChicagoBears")
    received = receive(CONFIG, before, [late])
    assert [one.id for one in received.accepted] == ["late"]
    assert "late" in received.state.idle
    back = replay(CONFIG, [*before, late, event("u", "undo", events=["gone"])])
    assert back.objects["t1"].fields == {"name": "ChicagoBears"}


@FEW
@given(LOGS)
def test_replay_is_deterministic_and_never_fails(log):
    assert content(replay(CONFIG, log)) == content(replay(CONFIG, tuple(log)))


@FEW
@given(LOGS, st.data())
def test_undo_then_redo_changes_nothing(log, data):
    before = replay(CONFIG, log)
    live = [one for one in before.seen if one not in before.undone]
    ids = data.draw(st.lists(st.sampled_from(live), min_size=1, max_size=3)) if live else ["e0"]
    again = [*log, event("u", "undo", events=ids), event("r", "redo", events=ids)]
    assert content(replay(CONFIG, again)) == content(before)


@FEW
@given(LOGS, st.lists(st.integers(0, 24), max_size=10), st.randoms(use_true_random=False))
def test_events_that_are_sent_again_are_harmless_wherever_they_come(log, again, random):
    longer = list(log)
    for number in again:
        if number < len(log):
            place = random.randint(longer.index(log[number]) + 1, len(longer))
            longer.insert(place, log[number])
    assert content(replay(CONFIG, longer)) == content(replay(CONFIG, log))


@FEW
@given(LOGS, st.integers(0, 25))
def test_receiving_in_two_batches_comes_to_the_same_as_in_one(log, cut):
    whole = receive(CONFIG, (), log)
    first = receive(CONFIG, (), log[:cut])
    second = receive(CONFIG, first.accepted, [*log[:cut], *log[cut:]])
    kept = [*first.accepted, *second.accepted]
    assert set(second.known) >= {one.id for one in first.accepted}
    assert content(second.state) == content(replay(CONFIG, kept))
    if not (first.refused or whole.refused):
        assert content(second.state) == content(whole.state)


@FEW
@given(LOGS)
def test_parents_stand_before_their_parts_and_nothing_lies_in_something_that_is_gone(log):
    seen: set[str] = {""}
    for one in replay(CONFIG, log).objects.values():
        assert one.parent in seen
        seen.add(one.id)


BAD = {
    "no id": (event("", "done"), "id"),
    "long id": (event("x" * 65, "done"), "id"),
    "odd id": (event("a b", "done"), "id"),
    "kind": (event("x", "craete", object="g9"), "'create'"),
    "missing": (event("x", "set", object="t1", field="name"), "'value'"),
    "extra": (event("x", "remove", object="t1", value="y"), "'value'"),
    "long value": (event("x", "set", object="t1", field="name", value="y" * (LONGEST_TEXT + 1)), "'value'"),
    "nul": (event("x", "set", object="t1", field="name", value="a\0b"), "'value'"),
    "half a pair": (event("x", "set", object="t1", field="name", value="\ud83d"), "'value'"),
    "empty span": (event("x", "span.add", object="t1", field="mention", parts=[[4, 4]]), "'parts'"),
    "turned span": (event("x", "span.add", object="t1", field="mention", parts=[[4, 2]]), "'parts'"),
    "negative": (event("x", "span.add", object="t1", field="mention", parts=[[-1, 2]]), "'parts'"),
    "floats": (event("x", "span.add", object="t1", field="mention", parts=[[0.0, 2]]), "'parts'"),
    "true is no place": (event("x", "span.add", object="t1", field="mention", parts=[[False, True]]), "'parts'"),
    "touching": (event("x", "span.add", object="t1", field="mention", parts=[[0, 2], [2, 4]]), "'parts'"),
    "no parts": (event("x", "span.add", object="t1", field="mention", parts=[]), "'parts'"),
    "many parts": (
        event("x", "span.add", object="t1", field="mention", parts=[[3 * n, 3 * n + 1] for n in range(MOST_PARTS + 1)]),
        "'parts'",
    ),
    "beyond": (event("x", "span.add", object="t1", field="mention", parts=[[90, 101]]), "the text at 100"),
    "category": (event("x", "create", object="g9", category="Gmae", parent=""), "Gmae"),
    "place": (event("x", "create", object="t9", category="Team", parent=""), "does not lie there"),
    "parent": (event("x", "create", object="t9", category="Team", parent="g9"), "no object g9"),
    "row": (event("x", "create", object="r9", category="Event", parent="t1"), "row.add"),
    "single by another name": (event("x", "create", object="s9", category="Score", parent="t1"), "t1/Score"),
    "object": (event("x", "set", object="t9", field="name", value="a"), "no object t9"),
    "single elsewhere": (event("x", "set", object="g1/Score", field="value", value="1"), "no object g1/Score"),
    "field": (event("x", "set", object="t1", field="nmae", value="a"), "'name'"),
    "words in a value": (event("x", "span.add", object="t1", field="name", parts=[[0, 1]]), "no words for name"),
    "no box": (event("x", "inferred", object="t1", value=True), "no box"),
    "undo of nothing": (event("x", "undo", events=["zz"]), "no event zz"),
    "undo of undo": (event("x", "undo", events=["u1"]), "cannot be undone"),
    "many undone": (event("x", "undo", events=["e1"] * (MOST_UNDONE + 1)), "'events'"),
    "no data": (Event("x", "set", ["t1"]), "not an object"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_malformed_event_is_refused_with_its_cure_and_replay_passes_it_over(name):
    bad, words = BAD[name]
    log = [*FIRST, event("u1", "undo", events=["e6"]), event("u2", "redo", events=["e6"])]
    problems = check(CONFIG, replay(CONFIG, log), bad, length=100)
    assert any(words in f"{one.message} {one.fix}" for one in problems), problems
    assert all(one.fix for one in problems)
    if name not in ("beyond", "row"):
        assert replay(CONFIG, [*log, bad]).objects == replay(CONFIG, log).objects


@pytest.mark.parametrize("sent", [None, 3, [], {"id": 4, "kind": None, "data": 7}, {"data": {"object": {}}}])
def test_whatever_is_sent_becomes_an_event_that_is_refused(sent):
    assert check(CONFIG, State(), event_of(sent))


def test_an_event_comes_back_from_what_is_stored():
    assert event_of(WORDS.as_dict()) == WORDS
    assert replay(CONFIG, FIRST).as_dict()["objects"][2]["mentions"] == {"mention": [{"id": "e5", "parts": [[3, 5]]}]}


def test_spans_may_overlap_and_consist_of_pieces():
    log = [
        GAME,
        event("a", "span.add", object="g1", field="mention", parts=[[0, 9]]),
        event("b", "span.add", object="g1", field="mention", parts=[[4, 12]]),
        event("c", "span.add", object="g1", field="mention", parts=[[0, 3], [20, 25]]),
        event("d", "span.add", object="g1", field="mention", parts=[[4, 12]]),
    ]
    state = replay(CONFIG, log)
    assert [one.id for one in state.objects["g1"].mentions["mention"]] == ["a", "b", "c"]
    assert state.idle == {"d": "these words are marked already"}
