"""Every command of an organiser helps with an example that runs on a real season, and prints JSON."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime, timedelta

import click
import pytest
from tests.built_once import built_once
from tests.cli.admin_season import build
from tests.cli.running import EXAMPLE, ROOT, here

from basanite.campaign.model.campaign_file import load
from basanite.cli.admin import SECTIONS, admin
from basanite.testing import small_campaign_text


def commands(group=admin, words=("admin",)):
    """Every command below `admin`, as the words to type."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name)


ELSEWHERE = {("admin", "annotation", "ask")}
"""It asks a program of somebody else; test_suggestions.py has one on this machine."""
ALL = [words for words in commands() if words not in ELSEWHERE]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The season that examples work on, made once for all test processes."""
    return built_once(tmp_path_factory, "admin-season", build)


@pytest.fixture
def folder(built, tmp_path):
    """A copy of it, with the files of the retrieval example."""
    copy = tmp_path / "here"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("key"))
    shutil.copytree(built, copy, dirs_exist_ok=True)
    return copy


def example_of(words):
    shown = here(*words, "--help").stdout
    found = re.search(r"Example:\n +(basanite .*)\n", shown)
    assert found is not None, shown
    return found[1]


@pytest.mark.few(40)
@pytest.mark.req("P-3")
@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_the_example_in_the_help_of_a_command_runs_and_prints_json(words, folder):
    import shlex

    typed = shlex.split(example_of(words))[1:]
    assert tuple(typed[: len(words)]) == words
    ended = here(*typed, "--json", cwd=folder)
    assert ended.code == 0, ended.stderr + ended.stdout
    assert isinstance(ended.data, dict)


def test_the_list_of_commands_reads_by_section():
    shown = here("admin", "--help").stdout
    places = [shown.index(f"{title}:") for title in SECTIONS]
    assert places == sorted(places)


@pytest.mark.req("P-7")
def test_a_refusal_is_told_with_its_cure_and_ends_with_code_1(folder):
    ended = here("admin", "release", "dev", "details", "--data", "season", cwd=folder)
    assert (ended.code, ended.stdout) == (1, "")
    assert "Fix: release 'top' first" in ended.stderr
    printed = here("admin", "release", "dev", "details", "--data", "season", "--json", cwd=folder)
    assert (printed.code, printed.data["done"]) == (1, False)
    assert [one["rule"] for one in printed.data["problems"]] == ["M70"]


def test_a_broken_campaign_file_is_told_line_by_line(tmp_path):
    (tmp_path / "broken.toml").write_text(small_campaign_text().replace("America/New_York", "Nowhere"))
    ended = here("admin", "campaign", "add", "broken.toml", "--data", "d", cwd=tmp_path)
    assert ended.code == 1
    assert re.search(r"campaign.toml:\d+", ended.stderr), ended.stderr


def test_an_example_campaign_moves_to_today_with_its_weekdays(tmp_path):
    example = ROOT / "examples" / "campaign" / "small.toml"
    moved = here("admin", "campaign", "new", example, "--out", "new.toml", "--json", cwd=tmp_path)
    assert moved.code == 0, moved.stdout + moved.stderr
    before, after = (load(path.read_text(encoding="utf-8")) for path in (example, tmp_path / "new.toml"))
    weeks = {(new.opens.utc - old.opens.utc).days for old, new in zip(before.windows, after.windows, strict=True)}
    assert all(days % 7 in (0, 6) for days in weeks), "whole weeks, but for an hour of summer time"
    now = datetime.now(UTC)
    assert now - timedelta(weeks=1, hours=2) < after.windows[0].opens.utc <= now < after.windows[0].closes.utc
    assert here("admin", "rehearse", "new.toml", cwd=tmp_path).code == 0
    again = here("admin", "campaign", "new", example, "--out", "new.toml", cwd=tmp_path)
    assert (again.code, "new.toml already exists" in again.stderr) == (1, True)


def test_a_campaign_file_moves_to_the_week_that_is_asked_for(tmp_path):
    example = ROOT / "examples" / "campaign" / "small.toml"
    later = ("admin", "campaign", "new", example, "--out", "later.toml", "--start", "2031-05-08 12:00")
    assert here(*later, cwd=tmp_path).code == 0
    assert 'opens = "2031-05-05 00:00"' in (tmp_path / "later.toml").read_text(encoding="utf-8")
    for wrong in ("2031-05-08", "9999-12-31 00:00"):
        ended = here(*later[:4], "--out", "wrong.toml", "--start", wrong, cwd=tmp_path)
        assert (ended.code, "--start" in ended.stderr, (tmp_path / "wrong.toml").exists()) == (2, True, False)


@pytest.mark.req("P-30")
def test_a_rehearsal_lists_what_would_go_wrong_and_ends_with_code_1(tmp_path):
    (tmp_path / "good.toml").write_text(small_campaign_text())
    good = here("admin", "rehearse", "good.toml", "--json", cwd=tmp_path)
    assert (good.code, good.data["faults"]) == (0, []), good.stdout
    (tmp_path / "bad.toml").write_text(small_campaign_text(more="[judging]\nk = 5\njudges = 3\n"))
    bad = here("admin", "rehearse", "bad.toml", "--at", "2018-04-05 00:00", "--json", cwd=tmp_path)
    found = " ".join(one["message"] for one in bad.data["faults"])
    assert (bad.code, "dev: never open" in found, "K = 5" in found) == (1, True, True)


def test_who_acts_is_in_the_log(folder):
    here("admin", "announce", "Hello", "World", "--data", "season", "--as", "eva@people.example", cwd=folder)
    here("admin", "announce", "Hello", "again", "--data", "season", cwd=folder)
    told = here("admin", "events", "--kind", "announcement", "--data", "season", "--json", cwd=folder).data["events"]
    assert len(told) == 2, told
    assert told[0]["actor"] not in ("command", told[1]["actor"])
    assert told[1]["actor"] == "command"


@pytest.mark.req("X-4")
def test_the_second_person_must_be_named_and_another(folder):
    plain = here("admin", "approvals", "agree", "--data", "season", cwd=folder)
    same = here("admin", "approvals", "agree", "--as", "eva@people.example", "--data", "season", cwd=folder)
    assert (plain.code, same.code) == (1, 1)
    assert json.loads(here("admin", "approvals", "list", "--data", "season", "--json", cwd=folder).stdout)["approvals"]


@pytest.mark.req("P-26")
def test_an_agreement_is_counter_signed_ended_and_its_deletion_certified(folder):
    def states():
        listed = here("admin", "agreement", "list", "--data", "season", "--json", cwd=folder).data
        return {(one["team"], one["agreement"]): one["state"] for one in listed["agreements"]}, listed["deletions"]

    before, asked = states()
    assert before[("Alpha", "data")] == "uploaded"
    assert (len(asked), asked[0]["certified"]) == (1, None)
    for words in (("accept", "Alpha", "data"), ("end", "Alpha", "speech"), ("certify", "Beta", "speech")):
        assert here("admin", "agreement", *words, "--data", "season", cwd=folder).code == 0
    after, asked = states()
    assert (after[("Alpha", "data")], after[("Alpha", "speech")]) == ("executed", "expired")
    assert [one["certified"] is None for one in asked] == [True, False]


@pytest.mark.req("M93")
def test_what_should_have_been_shared_is_listed(folder):
    found = here("admin", "resource", "list", "--overdue", "--data", "season", "--json", cwd=folder).data
    assert [(one["team"], one["kind"], one["overdue"]) for one in found["resources"]] == [("Alpha", "purchased", True)]


@pytest.mark.req("P-34")
def test_a_mail_to_a_role_is_sent_as_it_was_previewed_or_not_at_all(folder):
    words = ("admin", "mail", "pis", "Next week", "It opens on Monday.", "--data", "season", "--json")
    seen = here(*words, cwd=folder).data
    assert (seen["sent"], len(seen["receivers"]), "It opens on Monday." in seen["body"]) == (False, 2, True)
    assert here(*words, "--send", "0" * 64, cwd=folder).code == 1
    assert here(*words, "--send", seen["key"], cwd=folder).data["sent"]
    said = here("admin", "events", "--kind", "mail.sent", "--data", "season", "--json", cwd=folder).data["events"]
    assert len(said) == 1


@pytest.mark.req("P-34")
def test_a_team_is_split_and_handed_over_and_a_person_leaves(folder):
    def do(*words):
        ended = here("admin", "team", *words, "--data", "season", "--json", cwd=folder)
        assert ended.code == 0, ended.stdout
        return ended.data

    do("hand-over", "Alpha", "alan@people.example")
    do("split", "Alpha", "--name", "Delta", "--pi", "ada@people.example")
    members = {one["team"]: one["members"] for one in do("list")["teams"]}
    assert (members["Alpha"], members["Delta"]) == (["Alan"], ["Ada"])
    do("leave", "Alpha", "alan@people.example")
    assert {one["team"]: one["state"] for one in do("list")["teams"]}["Alpha"] == "left"


@pytest.mark.req("P-21")
def test_a_corrected_name_is_not_in_the_log(folder):
    words = ("alan@people.example", "--name", "Alan Mathison", "--mail", "am@people.example", "--data", "season")
    assert here("admin", "people", "correct", *words, cwd=folder).code == 0
    listed = here("admin", "people", "list", "--data", "season", "--json", cwd=folder).data["people"]
    assert ("Alan Mathison", "am@people.example") in [(one["name"], one["mail"]) for one in listed]
    log = here("admin", "events", "--data", "season", "--json", cwd=folder).stdout
    assert "person.changed" in log
    assert "Mathison" not in log
    assert "am@" not in log


def test_results_of_a_crowd_are_kept_as_they_came_and_looking_them_up_is_logged(folder):
    kept = ("--data", "season", "--json")
    none = here("admin", "panel", "batch", "raw", "key", "newest", "--out", "none", *kept, cwd=folder)
    assert (none.code, none.data["files"]) == (0, []), none.stderr
    assert here("admin", "panel", "batch", "import", "key", "newest", "results.csv", *kept, cwd=folder).code == 0
    found = here("admin", "panel", "batch", "raw", "key", "newest", "--out", "raw", *kept, cwd=folder)
    assert (found.code, found.data["files"]) == (0, ["results-1.csv"]), found.stderr
    assert (folder / "raw" / "results-1.csv").read_bytes() == (folder / "results.csv").read_bytes()
    again = here("admin", "panel", "batch", "raw", "key", "newest", "--out", "raw", *kept, cwd=folder)
    assert again.code == 1  # existing files are never overwritten
    assert "batch.raw" in here("admin", "events", *kept, cwd=folder).stdout
