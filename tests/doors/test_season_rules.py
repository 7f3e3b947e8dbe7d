"""A small season played through its doors: tracks, boards of primary runs, receipts, packs with a key, drop folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tarfile
import time
from dataclasses import dataclass
from typing import Any

import pytest
from tests.cli.running import here
from tests.doors.stage import Stage, rules, staged

from basanite.testing import small_campaign_text, small_pack

TRACKS = """
[[tracks]]
id = "open"
title = "Open"
required = ["text", "data"]

[[tracks]]
id = "human"
title = "Human"
"""
SEALED = """
[[packs]]
id = "EVAL2"
family = "secret"
released = "2018-01-01 00:00"
key_at = "2018-07-24 09:00"
usage = "eval"
agreement = "data"

[[agreements]]
id = "data"
title = "Data use"
version = "2"
text = "Keep it."
"""
WEEK, CLOSED = "2018-04-03 12:00", "2018-04-09 06:00"
FULL = {"text": "a system", "data": "none"}
NAME = "Alpha_CLIR-contrastive-unconstrained-QUERY1-{label}_BASE-1A-DEV_20180115_120000.tgz"
PATIENCE = 90


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    return small_pack(tmp_path_factory.mktemp("pack"))


def add_reference(stage, pack, dataset):
    where = ["--task", "CLIR", "--dataset", dataset, "--language", "1A", "--queryset", "QUERY1"]
    stage.admin("reference", "add", pack.key, *where, "--reason", "first", "--as", "eva@people.example")


def send(stage, who, file, dataset="EVAL1", described=None, **more):
    """Send a run and describe it; gives the id of the submission."""
    answer = stage.post(who, file.read_bytes(), dataset, **more)
    assert answer.status_code == 201, answer.text
    place = f"{stage.path}/submissions/{answer.json()['id']}/description"
    if described:
        told = stage.client.put(place, json={"description": described}, headers=stage.headers(who))
        assert told.status_code == 200, told.text
    return answer.json()["id"]


@dataclass(frozen=True)
class Played:
    """A season after its evaluation week: the runs, what was refused, and what was asked for too early."""

    stage: Stage
    runs: dict[str, str]
    refused: dict[str, Any]
    early_receipt: Any

    def result(self, who, run):
        return self.stage.get(who, f"/submissions/{self.runs[run]}").json()["result"]

    def board(self, who, track):
        words = {"window": "week", "task": "CLIR", "language": "1A", "track": track}
        return self.stage.get(who, "/leaderboard", **words).json()

    def ranked_board(self, who, track):
        """The board once its comparison is there: on a busy machine that may take another round of the worker."""
        for _ in range(20):
            found = self.board(who, track)
            if all(row["ranks"] for row in found["rows"]):
                break
            self.stage.work()
        return found


@pytest.fixture(scope="module")
def played(tmp_path_factory, pack):
    """An evaluation week on two tracks, its results released; gives the stage, the runs and what was seen before."""
    with staged(tmp_path_factory.mktemp("week"), small_campaign_text(more=TRACKS), WEEK) as stage:
        add_reference(stage, pack, "EVAL1")
        runs = {
            "best": send(stage, "ada", pack.perfect, type="primary", track="human"),
            "silent": send(stage, "bea", pack.silent, type="primary", track="human"),
            "better": send(stage, "bea", pack.perfect, track="human", label="better"),
            "described": send(stage, "ada", pack.perfect, described=FULL, type="primary", track="open"),
            "bare": send(stage, "bea", pack.perfect, described={"text": "x"}, type="primary", track="open"),
        }
        content = pack.perfect.read_bytes()
        refused = {
            track: stage.post("ada", content, "EVAL1", type="primary", track=track) for track in ("open", "x", "")
        }
        stage.work()
        blind = stage.get("ada", f"/submissions/{runs['best']}/receipts/score")
        stage.clock.set(CLOSED)
        release(stage, "certification")
        stage.clock.forward(days=7)
        release(stage, "top")
        stage.work()
        yield Played(stage, runs, refused, blind)


def release(stage, level):
    stage.admin("release", "week", level, "--reason", "as planned", "--as", "eva@people.example")


@pytest.mark.req("M78")
@pytest.mark.timeout(400)
def test_primary_runs_alone_are_compared_across_teams(played):
    shown = played.ranked_board("bea", "human")["rows"]
    assert [(row["name"], row["value"], row["own"]) for row in shown] == [("Alpha", 1.0, False), ("Beta", 0.0, True)]
    assert all(row["ranks"] and row["group"] for row in shown)
    assert played.result("bea", "better")["data"]["values"]["aqwv"]["value"] == 1.0, "scored, and not on the board"


@pytest.mark.req("P-31")
@pytest.mark.timeout(400)
def test_tracks_have_their_own_counts_and_boards_and_a_missing_description_holds_a_run_back(played):
    assert rules(played.refused["open"]) == {"M66"}, "one primary run for each track is spent"
    assert "P-31" in rules(played.refused["x"]) & rules(played.refused[""])
    shown = played.board("ada", "open")
    assert ([row["name"] for row in shown["rows"]], shown["left_out"]) == (["Alpha"], {"description incomplete": 1})
    assert played.result("ada", "described")["data"]["values"]["aqwv"]["value"] == 1.0
    assert played.result("bea", "bare") is None
    place = f"{played.stage.path}/submissions/{played.runs['bare']}/description"
    told = played.stage.client.put(place, json={"description": FULL}, headers=played.stage.headers("bea"))
    assert told.status_code == 200, told.text
    assert played.result("bea", "bare")["data"]["values"]["aqwv"]["value"] == 1.0


@pytest.mark.req("P-9")
@pytest.mark.timeout(400)
def test_receipts_of_intake_and_score_are_checked_offline_by_the_servers_keys(played, pack, tmp_path):
    assert played.early_receipt.status_code in (404, 409), "there is none before the release"
    keys = tmp_path / "keys.json"
    keys.write_bytes(played.stage.client.get("/api/v1/keys").content)
    shutil.copy(pack.perfect, tmp_path / "run.tgz")
    for kind in ("intake", "score"):
        answer = played.stage.get("ada", f"/submissions/{played.runs['best']}/receipts/{kind}")
        receipt = tmp_path / f"{kind}.receipt.json"
        receipt.write_bytes(answer.content)
        words = ("verify", receipt.name, "--key", "keys.json")
        assert here(*words, "--submission", "run.tgz", cwd=tmp_path).code == 0
        assert played.runs["best"] in here(*words, "--json", cwd=tmp_path).stdout
        shutil.copy(pack.silent, tmp_path / "other.tgz")
        assert here(*words, "--submission", "other.tgz", cwd=tmp_path).code == 1
        receipt.write_text(receipt.read_text().replace(played.runs["best"], "0" * len(played.runs["best"])))
        assert here(*words, cwd=tmp_path).code == 1, "changed by one field"


@pytest.mark.req("M89")
@pytest.mark.timeout(300)
def test_an_encrypted_pack_opens_with_the_key_that_is_published_at_its_minute(tmp_path):
    content = b"the documents of the evaluation\n" * 5_000
    (tmp_path / "docs.tgz").write_bytes(content)
    with staged(tmp_path / "season", small_campaign_text(more=SEALED), "2018-02-05 12:00") as stage:
        stage.sign("data")
        stage.admin("pack", "add", "EVAL2", tmp_path / "docs.tgz", "--as", "eva@people.example")
        (listed,) = next(one for one in stage.get("ada", "/packs").json() if one["id"] == "EVAL2")["files"]
        assert (listed["name"], listed["encrypted"]) == ("docs.tgz.sealed", True)
        sealed = stage.get("ada", f"/packs/files/{listed['id']}").content
        assert content[:40] not in sealed
        stage.clock.set("2018-07-24 12:59:59")
        for who in ("ada", "eva"):
            early = stage.get(who, "/packs/EVAL2/key")
            assert (early.status_code, "has not been published" in early.text) == (403, True), early.text
        stage.clock.set("2018-07-24 13:00")
        key = stage.get("ada", "/packs/EVAL2/key").json()["key"]
    (tmp_path / "docs.sealed").write_bytes(sealed)
    for name, text in {"pack.key": key, "wrong.key": key[::-1]}.items():
        (tmp_path / name).write_text(text)
    words = ("decrypt", "docs.sealed", "--out", "again.tgz", "--key")
    assert here(*words, "wrong.key", cwd=tmp_path).code == 1
    assert here(*words, "pack.key", cwd=tmp_path).code == 0
    assert (tmp_path / "again.tgz").read_bytes() == content


def half_right(pack, folder):
    """A run that is right on all queries but one, and a list with that one, which was open to study."""
    names = sorted(path.name for path in pack.key.iterdir())
    chosen = next(name for name in names if "\tY" in (pack.key / name).read_text())
    (folder / "open.txt").write_text(chosen.removesuffix(".tsv") + "\n")
    made = folder / "half.tgz"
    with tarfile.open(pack.perfect) as right, tarfile.open(pack.silent) as silent, tarfile.open(made, "w:gz") as out:
        for name in names:
            source = silent if name == chosen else right
            out.addfile(source.getmember(name), source.extractfile(name))
    return made


@pytest.mark.slow
@pytest.mark.req("M20")
@pytest.mark.timeout(400)
def test_open_queries_never_count_toward_the_final_value(pack, tmp_path):
    more = '[[querysets]]\nid = "QUERY2"\nreleased = "2018-03-01 00:00"\n'
    head, week = small_campaign_text(more=more).replace('"7 days"', '"0 min"').split('id = "week"')
    head = head.replace('00:00"\n\n[[windows]]\nid = "dev"', '00:00"\nopen = true\n\n[[windows]]\nid = "dev"')
    text = f'{head}id = "week"{week.replace("""["QUERY1"]""", """["QUERY1", "QUERY2"]""")}'
    half, both = half_right(pack, tmp_path), "QUERY1QUERY2"
    with staged(tmp_path / "season", text, WEEK) as stage:
        where = ["--task", "CLIR", "--dataset", "EVAL1", "--language", "1A", "--queryset", both]
        where += ["--open-queries", tmp_path / "open.txt", "--reason", "first", "--as", "eva@people.example"]
        stage.admin("reference", "add", pack.key, *where)
        run = send(stage, "ada", half, queryset=both, type="primary")
        send(stage, "bea", pack.silent, queryset=both, type="primary")
        stage.work()
        stage.clock.set(CLOSED)
        release(stage, "top")
        stage.work()
        whole = stage.get("eva", f"/submissions/{run}").json()["result"]["data"]["values"]["aqwv"]["value"]
        words = {"window": "week", "task": "CLIR", "language": "1A"}
        rows = stage.get("bea", "/leaderboard", **words).json()["rows"]
    assert [(row["name"], row["value"]) for row in rows] == [("Alpha", 1.0), ("Beta", 0.0)]
    assert whole < 1.0, "the open query counts in the value over all of them"


@pytest.mark.req("X-1")
@pytest.mark.timeout(400)
def test_no_digest_that_a_team_sees_confirms_a_guess_at_the_reference(played, pack, tmp_path):
    words = ("--reference", pack.key, "--submission", pack.perfect, "--draws", "10", "--json")
    plain = here("score", "clir", *words).data["digests"]["reference"].removeprefix("sha256:")
    of_files = {hashlib.sha256(path.read_bytes()).hexdigest() for path in pack.key.iterdir()}
    shown = [
        played.stage.get(who, f"/submissions/{played.runs['best']}{path}").text
        for who in ("ada", "bea")
        for path in ("", "/results", "/receipts/intake", "/receipts/score")
    ]
    assert sum("sha256" in text for text in shown) >= 3, "digests are shown"
    assert not [text for text in shown for digest in {plain, *of_files} if digest in text]
    seeded = small_campaign_text(slug="seeded").replace('slug = "seeded"\n', 'slug = "seeded"\nseed = 7\n')
    for text, code in ((seeded, 1), (seeded.replace("sealed = true\ntwo", "sealed = false\ntwo"), 0)):
        (tmp_path / "campaign.toml").write_text(text)
        added = here("admin", "campaign", "add", "campaign.toml", "--data", f"season-{code}", cwd=tmp_path)
        assert (added.code, "X-1" in added.stderr) == (code, bool(code)), added


def drop(folder, content, name):
    """Put a file into a team's folder as it should be done: complete, and renamed at the end."""
    part = folder / f"{name}.part"
    part.write_bytes(content)
    part.rename(folder / name)
    return name


def wait_for(path):
    """What the server puts beside a dropped file."""
    end = time.monotonic() + PATIENCE
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.1)
    return json.loads(path.read_text())


@pytest.mark.req("X-12")
@pytest.mark.timeout(300)
def test_the_drop_folder_says_who_and_only_renamed_regular_files_are_taken(tmp_path, pack):
    content, base = pack.perfect.read_bytes(), tmp_path / "drop"
    alpha, beta = base / "Alpha", base / "Beta"
    for folder in (alpha, beta):
        folder.mkdir(parents=True)
    for name in ("pointed-at", "shared"):
        (tmp_path / name).write_bytes(content)
    (alpha / NAME.format(label="link")).symlink_to(tmp_path / "pointed-at")
    os.link(tmp_path / "shared", alpha / NAME.format(label="hard"))
    os.mkfifo(alpha / NAME.format(label="pipe"))
    (alpha / f"{NAME.format(label='part')}.part").write_bytes(content)
    stolen = drop(beta, content, NAME.format(label="stolen"))
    old = drop(alpha, content, NAME.format(label="good"))
    os.utime(alpha / old, (0, 0))
    with staged(tmp_path / "season", small_campaign_text(), "2018-01-15 12:00", drop=base) as stage:
        receipt = wait_for(alpha / "answers" / f"{old}.receipt.json")
        refused = wait_for(beta / "answers" / f"{stolen}.problems.json")
        mine = stage.get("ada", "/submissions").json()["submissions"]
        assert [(one["label"], one["door"], one["id"]) for one in mine] == [
            ("good", "drop", receipt["content"]["submission"]["id"])
        ]
        assert mine[0]["received"].startswith("2018-01-15T12:00"), "when the server saw it, not the file's own time"
        assert stage.get("bea", "/submissions").json()["submissions"] == []
    assert [problem["rule"] for problem in refused["problems"]][:1] == ["M58"], (
        "the folder is Beta's, whatever the name"
    )
    assert {(tmp_path / name).read_bytes() for name in ("pointed-at", "shared")} == {content}
