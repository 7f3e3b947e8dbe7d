"""Teams' programs on sealed data, as people meet them: organizers type commands, teams call the API (G-1 to G-4)."""

from __future__ import annotations

import json
import textwrap
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from tests.campaign.programs.conftest import ITEMS, PYTHON_RUN, SHELL_RUN, archive, window
from tests.cli.running import here
from tests.doors.stage import staged

from basanite.testing import small_campaign_text

TABLE = "id\tword\n" + "\n".join(ITEMS) + "\n"
NOW = "2018-01-15 12:00"
HALF = PYTHON_RUN.replace('out.write(line + "\\n")', 'out.write(line.replace("blue", "red") + "\\n")')


def text(**entries):
    """The campaign's file: the small one, its sealed pack out, and a window for programs."""
    return small_campaign_text(more=window(**entries)).replace('released = "2018-04-02', 'released = "2018-01-01')


def prepare(stage, folder, *more):
    """Add the reference with the sealed items and the public ones, as an organizer does."""
    (folder / "key.tsv").write_text(TABLE.replace("word", "label"))
    (folder / "inputs.tsv").write_text(TABLE)
    (folder / "samples.tsv").write_text("id\tword\ns1\tred\n")
    words = ("reference", "add", folder / "key.tsv", "--task", "classification", "--dataset", "EVAL1")
    return stage.admin(*words, "--inputs", folder / "inputs.tsv", "--samples", folder / "samples.tsv", *more)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Gives a function that stages the season with a window for programs."""
    opened = []

    def make(minute=60, **entries):
        monkeypatch.setenv("BASANITE_LIMITS__MINUTE", str(minute))
        held = staged(tmp_path, text(**entries), NOW)
        stage = held.__enter__()
        opened.append(held)
        prepare(stage, tmp_path)
        return stage

    yield make
    for held in opened:
        held.__exit__(None, None, None)


def send(stage, who, content, **more):
    """Submit a program; gives the address of the submission below the campaign."""
    said = {"task": "classification", "queryset": "", "label": "prog", "filename": "program.tgz", **more}
    answer = stage.post(who, content, "EVAL1", **said)
    assert answer.status_code == 201, answer.text
    return "/submissions/" + answer.json()["id"]


def finish(stage):
    """Let everything end: programs, the minute in which nothing is told, then validating and scoring."""
    stage.work()
    stage.clock.forward(minutes=2)
    stage.work()
    stage.work()


@pytest.mark.req("G-1")
@pytest.mark.req("G-4")
def test_programs_in_any_language_are_scored_on_sealed_items_like_answers(programs, tmp_path):
    stage = programs()
    sent = {
        "shell": send(stage, "ada", archive(run=SHELL_RUN)),
        "python": send(stage, "bea", archive(run=HALF, model__weights="1 2 3")),
    }
    finish(stage)
    found = {
        name: stage.get(who, place).json() for (name, place), who in zip(sent.items(), ("ada", "bea"), strict=True)
    }
    assert [one["state"] for one in found.values()] == ["scored", "scored"]
    values = {name: one["result"]["data"]["values"] for name, one in found.items()}
    primary = found["shell"]["result"]["data"]["primary"]
    assert values["shell"][primary]["value"] == 1.0
    (tmp_path / "half.tsv").write_text(TABLE.replace("word", "label").replace("blue", "red"))
    words = ("score", "classification", "--submission", tmp_path / "half.tsv", "--reference", tmp_path / "key.tsv")
    at_home = json.loads(here(*map(str, words), "--json").stdout)["values"][primary]["value"]
    assert values["python"][primary]["value"] == round(at_home, 3)  # limited feedback has three decimals
    assert found["python"]["program"]["same"] is True
    receipt = stage.get("ada", f"{sent['shell']}/receipts/intake").json()
    assert receipt["content"]["submission"]["sha256"] == found["shell"]["sha256"]
    seen = stage.get("eva", sent["shell"]).json()["program"]["exact"]
    score = stage.get("ada", f"{sent['shell']}/receipts/score").json()["content"]["result"]
    # the receipt of a score names what was run on what, and what came of it; a digest of sealed answers is not in it
    assert score["program"] == {
        "archive": found["shell"]["sha256"],
        "inputs": seen["inputs"],
        "outputs": seen["outputs"],
        "same_again": True,
    }
    assert score["digests"] == {}
    assert len(seen["inputs"]) == len(seen["outputs"]) == 64
    assert (seen["checked"], seen["differing"], seen["done"]) == (3, 0, 6)


@pytest.mark.req("G-2")
def test_a_team_learns_of_sealed_items_no_more_than_a_yes_or_no(programs):
    stage = programs()
    case = "case $(cat in/items.tsv) in *s1*) cp in/items.tsv out/answers.tsv;; *) exit 7;; esac"
    spy = f"#!/bin/sh\ncat in/items.tsv\n{case}\n"
    place = send(stage, "ada", archive(run=spy))
    stage.work()
    while_hidden = stage.get("ada", place).json()
    assert (while_hidden["state"], while_hidden["final"], while_hidden["problems"]) == ("running", False, None)
    assert while_hidden["program"]["stage"] == "run"
    assert stage.get("ada", f"{place}/program/smoke").text == "id\tword\ns1\tred\n"
    assert stage.get("ada", f"{place}/program/run").status_code == 404
    stage.clock.forward(minutes=2)
    stage.work()
    after = stage.get("ada", place).json()
    assert after["state"] == "invalid"
    assert [one["message"] for one in after["problems"]["problems"]] == ["the program failed on the sealed items"]
    shown = after["program"]
    assert (shown["stage"], shown["smoke"], shown["minutes"], shown["megabytes"], shown["exact"]) == (
        "failed", True, 1, None, {},
    )  # fmt: skip
    assert stage.get("ada", f"{place}/program/run").status_code == 404
    assert "red" in stage.get("eva", f"{place}/program/run").text
    assert stage.get("eva", place).json()["program"]["exact"]["cause"] == "it ended with an error"
    assert stage.get("bea", place).status_code == 404
    assert stage.get("bea", f"{place}/program/smoke").status_code == 404
    # answers that are no answers carry nothing either: their problems are counted, not quoted
    lines = "printf 'id\\tlabel\\n'; tail -n 1 in/items.tsv; tail -n 1 in/items.tsv | tr a-z A-Z"
    leak = f"#!/bin/sh\n{{ {lines}; }} > out/answers.tsv\n"
    place = send(stage, "ada", archive(run=leak))
    finish(stage)
    after = stage.get("ada", place).json()
    assert (after["state"], after["program"]["stage"], after["problems"]["problems"]) == ("invalid", "passed", [])
    assert after["problems"]["total"] > 0
    assert "RED" not in json.dumps(after)
    assert stage.get("ada", f"{place}/problems", every=True).json()["problems"] == []
    assert "RED" in json.dumps(stage.get("eva", f"{place}/problems", every=True).json())


@pytest.mark.req("G-2")
def test_a_plan_may_show_the_beginning_of_what_is_printed_on_sealed_items(programs):
    stage = programs(log='"5 B"')
    place = send(stage, "ada", archive(run=SHELL_RUN))
    finish(stage)
    assert stage.get("ada", f"{place}/program/run").text == "answe"
    assert stage.get("ada", place).json()["program"]["log"] is True


@pytest.mark.req("G-3")
def test_resources_are_declared_shown_and_enforced(programs):
    stage = programs(memory='"64 MiB"')
    shown = next(one for one in stage.get("ada", "/windows").json() if one["id"] == "programs")["programs"]
    told = {name: shown[name] for name in ("runner", "cores", "memory", "item_seconds")}
    assert told == {"runner": "sandbox", "cores": 1, "memory": 64 * 2**20, "item_seconds": 20.0}
    program = "#!/usr/bin/env python3\nimport os\n" + textwrap.dedent("""
        print(len(os.sched_getaffinity(0)), flush=True)
        try:
            os.sched_setaffinity(0, range(64))
        except OSError:
            pass
        print(len(os.sched_getaffinity(0)), flush=True)
        held = b"1" * 200_000_000
        print("held", flush=True)
        """)
    place = send(stage, "ada", archive(run=program))
    stage.work()
    found = stage.get("ada", place).json()
    assert found["state"] == "invalid"
    assert "the program failed on the public items" in found["problems"]["problems"][0]["message"]
    lines = stage.get("ada", f"{place}/program/smoke").text.splitlines()
    assert lines[:2] == ["1", "1"]
    assert "held" not in lines


@pytest.mark.req("G-3")
def test_a_runner_that_nobody_has_is_refused_when_the_plan_is_read(tmp_path):
    (tmp_path / "campaign.toml").write_text(text(runner='"podmann"'))
    ended = here("admin", "campaign", "add", str(tmp_path / "campaign.toml"), "--data", str(tmp_path / "data"))
    assert ended.code == 1
    assert "names a runner 'podmann', which is unknown" in ended.stderr + ended.stdout


@pytest.mark.req("G-3")
def test_a_long_program_gives_way_to_those_of_other_teams(programs, monkeypatch):
    monkeypatch.setenv("BASANITE_LIMITS__SLICE_SECONDS", "0")
    stage = programs(minute=0, reruns="0")
    first = send(stage, "ada", archive(run=SHELL_RUN))
    second = send(stage, "bea", archive(other="no program"))
    stage.work()
    assert [stage.get("ada", first).json()["state"], stage.get("bea", second).json()["state"]] == ["scored", "invalid"]
    events = stage.admin("events", "--kind", "submission", "--limit", "200")["events"]
    at = {(one["subject"], one["kind"]): one["sequence"] for one in events}
    ends = ((second, "submission.invalid"), (first, "submission.scored"))
    assert len({at[place.rpartition("/")[2], kind] for place, kind in ends}) == 2
    assert at[second.rpartition("/")[2], "submission.invalid"] < at[first.rpartition("/")[2], "submission.scored"]


@pytest.mark.req("G-5")
def test_a_program_is_asked_line_by_line_and_one_that_keeps_silent_is_not_waited_for(programs):
    stage = programs(mode='"pipe"', header="false", item_time='"8 s"', reruns="2")
    echo = '#!/bin/sh\nwhile read -r line; do echo "$line"; done\n'
    silent = '#!/bin/sh\nwhile read -r line; do case "$line" in i3*) sleep 600;; esac; echo "$line"; done\n'
    first, second = send(stage, "ada", archive(run=echo)), send(stage, "bea", archive(run=silent))
    finish(stage)
    found = stage.get("ada", first).json()
    # answers without a line of column names are no table of labels; each item was asked, and answered the same again
    assert (found["program"]["stage"], found["program"]["same"]) == ("passed", True)
    assert stage.get("eva", first).json()["program"]["exact"]["done"] == 6
    assert stage.get("bea", second).json()["state"] == "invalid"
    exact = stage.get("eva", second).json()["program"]["exact"]
    assert (exact["cause"], exact["done"]) == ("it exceeded its time limit", 2)


class Endpoint(BaseHTTPRequestHandler):
    """A team's system: the answer to an item is the item; the first call of all has a fault."""

    seen: ClassVar[list[tuple[str, bytes]]] = []

    def do_POST(self) -> None:
        """Answer one item."""
        item = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((self.headers.get("Authorization", ""), item))
        self.send_response(200 if len(self.seen) > 1 else 503)
        self.end_headers()
        self.wfile.write(item)

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint():
    """An endpoint on this machine; gives its address."""
    Endpoint.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/answer"
    server.shutdown()
    server.server_close()


@pytest.mark.req("G-7")
def test_an_endpoint_is_called_at_a_checked_address_within_its_budget(programs, endpoint, monkeypatch):
    entries = {"mode": '"endpoint"', "header": "false", "per_minute": "6000", "calls": "12", "reruns": "2"}
    stage = programs(**entries)
    file = json.dumps({"url": endpoint, "token": "secret-of-alpha"}).encode()
    private = send(stage, "ada", file, filename="endpoint.json")
    stage.work()
    refused = stage.get("ada", private).json()
    assert refused["state"] == "invalid"
    assert "the endpoint may not be called" in refused["problems"]["problems"][0]["message"]
    assert Endpoint.seen == []
    monkeypatch.setenv("BASANITE_LOOPBACK_WEBHOOKS", "true")
    sent, none = send(stage, "ada", file, filename="endpoint.json"), send(stage, "bea", b'{"url": 3}')
    finish(stage)
    assert stage.get("bea", none).json()["state"] == "invalid"
    exact = stage.get("eva", sent).json()["program"]["exact"]
    # one public item that was asked twice, six sealed ones, and two of these again
    assert (exact["calls"], exact["done"], exact["differing"]) == (10, 6, 0)
    assert [item.decode() for _, item in Endpoint.seen[2:8]] == ITEMS
    assert {token for token, _ in Endpoint.seen} == {"Bearer secret-of-alpha"}
    found = stage.get("ada", sent).json()
    assert found["program"]["stage"] == "passed"
    assert "secret-of-alpha" not in json.dumps(found)
    again = send(stage, "ada", json.dumps({"url": endpoint + "?again"}).encode(), label="again")
    Endpoint.seen.clear()
    monkeypatch.setattr(Endpoint, "do_POST", lambda self: self.send_error(500))
    finish(stage)
    exact = stage.get("eva", again).json()
    assert exact["state"] == "invalid"
    assert exact["program"]["exact"]["calls"] <= 12


SCORER = """#!/usr/bin/env python3
import pathlib, sys
right = dict(line.split("\\t") for line in open(next(pathlib.Path("in/reference").iterdir())).read().splitlines()[1:])
said = [line.split("\\t") for line in open(next(pathlib.Path("in/submission").iterdir())).read().splitlines()]
if any(len(row) != 2 for row in said):
    print("line", 1 + next(at for at, row in enumerate(said) if len(row) != 2), "has no two columns")
    sys.exit(3)
scores = [(item, int(right.get(item) == word)) for item, word in said]
{write}
"""
PER_ITEM = """with open("out/scores.tsv", "w") as out:
    out.write("item\\tscore\\n" + "".join(f"{item}\\t{score}\\n" for item, score in scores))"""
IN_ALL = """open("out/total.txt", "w").write(str(sum(score for _, score in scores) / len(scores)))"""
OWN = """
[[windows]]
id = "own"
title = "Scored by the organizers' program"
opens = "2018-01-01 00:00"
closes = "2018-03-31 24:00"
tasks = ["scores"]
dataset = ["EVAL1"]
quota = { count = 50, period = "week" }
feedback = "full"
forced = "a test"

[windows.scorer]
memory = "512 MiB"
"""


@pytest.mark.req("G-6")
@pytest.mark.parametrize("write", [PER_ITEM, IN_ALL], ids=["values of items", "total alone"])
def test_an_organizers_scorer_runs_in_the_sandbox_and_a_total_alone_is_labeled(tmp_path, write):
    whole = small_campaign_text(more=OWN).replace('released = "2018-04-02', 'released = "2018-01-01')
    numbers, folder = range(40), tmp_path / "scorer"
    folder.mkdir()
    (folder / "run").write_text(SCORER.format(write=write))
    (tmp_path / "key.tsv").write_text("id\tword\n" + "".join(f"q{n}\tw{n % 3}\n" for n in numbers))
    answers = "".join(f"q{n}\tw{n % 2}\n" for n in numbers).encode()
    right = sum(n % 3 == n % 2 for n in numbers) / len(numbers)
    with staged(tmp_path / "office", whole, NOW) as stage:
        add = ("reference", "add", tmp_path / "key.tsv", "--task", "scores", "--dataset", "EVAL1")
        stage.admin(*add, "--scorer", folder)
        said = {"task": "scores", "queryset": "", "label": "mine", "filename": "mine.tsv"}
        good = stage.post("ada", answers, "EVAL1", **said).json()["id"]
        bad = stage.post("bea", b"no table\n", "EVAL1", **said).json()["id"]
        stage.work()
        found = stage.get("ada", f"/submissions/{good}").json()
        assert found["state"] == "scored", found
        data, refused = found["result"]["data"], stage.get("bea", f"/submissions/{bad}").json()
    value = data["values"]["mean"]
    assert value["value"] == pytest.approx(right)
    assert (refused["state"], refused["problems"]["problems"][0]["message"]) == ("invalid", "line 1 has no two columns")
    if write == PER_ITEM:
        assert value["low"] < right < value["high"]
        assert "no per-item values, no interval" not in value["flags"]
    else:
        assert (value["low"], value["high"]) == (None, None)
        assert value["flags"] == ["no per-item values, no interval"]
