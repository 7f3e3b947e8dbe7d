"""A new version of a configuration: records are migrated on a copy, with a diff, and old ones keep theirs (R-14)."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

from tests.work.annotation.corpus import CONFIG, NFL, nfl_config

from basanite.problems import Findings
from basanite.work.annotation.config import read_config
from basanite.work.annotation.events import Event
from basanite.work.annotation.migration import Record, differences, migrate, read_records, record_lines
from basanite.work.annotation.replay import replay

NEW = nfl_config()
OLDER = CONFIG.parent / "older"
OLD, _ = read_config(OLDER / "nfl-scoring-2.yaml", NFL)
RECORDS = read_records(OLDER / "records.ndjson", Findings())
HEAD = "annotation: small\nversion: {version}\ncategories:\n  Game: {{frame: true, repeat: '0..', mention: optional}}\n"


def small(version: int, categories: str, migrations: str = "[]"):
    text = HEAD.format(version=version) + f"  {categories}\nmigrate: {migrations}\n"
    config, problems = read_config(text, NFL)
    assert config is not None, problems
    return config


def event(id_, kind, **data):
    return Event(id_, kind, data)


GAME = event("e1", "create", object="g", category="Game", parent="")


def kinds(changes):
    return [(one.event, one.kind) for one in changes]


def test_renamed_categories_and_fields_are_carried_over_and_undo_still_works():
    before = replay(OLD, RECORDS[0].events)
    (copy, _), changes = migrate(NEW, RECORDS)
    after = replay(NEW, copy.events)
    assert copy.version == 3
    assert before.objects["t1/FinalScore"].fields == {"points": "27"}
    assert after.objects["t1/Score"].fields == {"value": "27"}
    assert after.objects["t1/Score"].mentions == before.objects["t1/FinalScore"].mentions
    undone = replay(NEW, [*copy.events, event("u", "undo", events=["a8"])])
    assert undone.objects["t1/Score"].fields == {"value": "72"}
    assert ("a7", "renamed") in kinds(changes)


def test_old_records_are_not_touched_and_keep_their_version():
    before = deepcopy(RECORDS)
    copies, _ = migrate(NEW, RECORDS)
    assert before == RECORDS
    assert all(copy.events != old.events for copy, old in zip(copies, RECORDS, strict=True)), "there was work to do"
    assert [one.version for one in RECORDS] == [2, 1]


def test_several_versions_are_gone_through_and_what_has_no_place_is_listed():
    (_, copy), changes = migrate(NEW, RECORDS)
    mine = [one for one in changes if one.annotator == "A2"]
    assert kinds(mine) == [("b4", "value"), ("b5", "renamed"), ("b6", "unmapped"), ("b5", "doubtful")]
    assert replay(NEW, copy.events).objects["t1/Status"].fields == {"value": "overtime win"}
    assert "Stadium" in mine[2].before
    assert "Stadium" in mine[2].after
    assert not any(one.id == "b6" for one in copy.events)


def test_what_is_dropped_on_purpose_is_told_as_dropped_and_no_undo_speaks_of_it():
    new = small(2, "Date: {in: Game, value: date, mention: span}", "[{from: 1, drop: [Stadium, Date.odd]}]")
    log = (
        GAME,
        event("e2", "set", object="g/Stadium", field="value", value="x"),
        event("e3", "set", object="g/Date", field="odd", value="x"),
        event("e4", "set", object="g/Date", field="value", value="2005-01-15"),
        event("e5", "undo", events=["e2"]),
        event("e6", "undo", events=["e3", "e4"]),
    )
    (copy,), changes = migrate(new, [Record("d", "a", 1, log)])
    assert kinds(changes) == [("e2", "dropped"), ("e3", "dropped")]
    assert [one.id for one in copy.events] == ["e1", "e4", "e6"]
    assert copy.events[-1].data["events"] == ["e4"]


def test_what_stood_once_may_stand_more_often_and_the_other_way_round():
    many = small(2, "Date: {in: Game, repeat: '0..', value: date, mention: span}")
    once = (GAME, event("e2", "set", object="g/Date", field="value", value="2005-01-15"))
    (copy,), _ = migrate(many, [Record("d", "a", 1, once)])
    (made,) = replay(many, copy.events).of("Date")
    assert (made.fields, made.parent) == ({"value": "2005-01-15"}, "g")
    single = small(3, "Date: {in: Game, value: date, mention: span}")
    twice = (*copy.events, event("f1", "create", object="d9", category="Date", parent="g"))
    (back,), changes = migrate(single, [Record("d", "a", 2, twice)])
    assert replay(single, back.events).objects["g/Date"].fields == {"value": "2005-01-15"}
    assert ("f1", "unmapped") in kinds(changes)


def test_rows_and_other_objects_are_turned_into_each_other():
    table = small(2, "Score: {in: Game, table: {count: count, mention: optional}}")
    log = (
        GAME,
        event("e2", "create", object="s", category="Score", parent="g"),
        event("e3", "set", object="s", field="count", value="3"),
        event("e4", "remove", object="s"),
    )
    (copy,), changes = migrate(table, [Record("d", "a", 1, log)])
    assert [one.kind for one in copy.events] == ["create", "row.add", "set", "row.remove"]
    assert not any(one.kind == "unmapped" for one in changes)


def test_records_of_this_version_are_the_same_and_newer_ones_are_left_alone():
    now, later = Record("d", "a", 3, (GAME,)), Record("d", "b", 9, (GAME,))
    copies, changes = migrate(NEW, [now, later])
    assert copies == (now,)
    assert [(one.annotator, one.kind) for one in changes] == [("b", "unmapped")]


def test_a_diff_tells_what_is_renamed_new_and_gone_and_what_would_be_lost():
    forward = {(one.what, one.kind): one for one in differences(OLD, NEW)}
    assert forward["category FinalScore", "renamed"].detail == "Score"
    assert forward["field FinalScore.points", "renamed"].detail == "value"
    assert not any(one.lost for one in forward.values())
    backward = [one for one in differences(NEW, OLD) if one.lost]
    assert [(one.what, one.kind) for one in backward] == [("category Score", "gone")]


def test_a_diff_minds_choices_types_and_places():
    old = small(1, "Date: {in: Game, fields: {a: text, b: {choices: [x, y]}}}")
    new = small(2, "Date: {in: Game, repeat: '0..', fields: {a: count, b: {choices: [x, z]}, c: text}}")
    found = {one.what: (one.kind, one.lost) for one in differences(old, new)}
    assert found["field Date.a"] == ("changed", False)
    assert found["field Date.b = y"] == ("gone", True)
    assert found["field Date.b = z"] == ("new", False)
    assert found["field Date.c"] == ("new", False)
    assert found["category Date"] == ("changed", False)
    mapped = small(2, "Date: {in: Game, fields: {a: text, b: {choices: [x, z]}}}",
                   "[{from: 1, values: {Date.b: {y: z}}}]")  # fmt: skip
    assert not any(one.lost for one in differences(old, mapped))


def test_records_are_written_and_read_back(tmp_path: Path):
    path = tmp_path / "r.ndjson"
    path.write_text("".join(f"{line}\n" for line in record_lines(RECORDS)), encoding="utf-8")
    assert read_records(path, Findings()) == RECORDS


def test_lines_that_are_no_records_are_told_with_their_numbers(tmp_path: Path):
    path = tmp_path / "r.ndjson"
    path.write_text('{}\n[]\n{"document": "d", "version": true, "events": []}\n{"document": "d", "version": 1}\nx\n')
    findings = Findings()
    assert read_records(path, findings) == ()
    assert {one.line for one in findings} == {1, 2, 3, 4, 5}


def test_hostile_events_in_a_record_are_listed_and_left_out():
    log = (GAME, Event("x", "set", {"object": "g", "field": "value", "value": 7}), Event("", "?", {}))
    (copy,), changes = migrate(NEW, [Record("d", "a", 1, log)])
    assert [one.id for one in copy.events] == ["e1"]
    assert kinds(changes) == [("x", "unmapped"), ("", "unmapped")]
