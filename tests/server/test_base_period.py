"""The plan's base period in miniature, row by row from its schedule, with a set clock: by API and command line alone.

Nothing here reaches into the database: organisers type `basanite admin …`, teams type `basanite submit …` or call the
API with their tokens, and a real server with its worker answers.
"""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner
from tests.cli.running import ROOT
from tests.offices.engines import place
from tests.server.doors.sending import bearer
from tests.server.live import live

from basanite.cli import app
from basanite.cli.office import GivenClock
from basanite.synthetic.clir import Spec
from basanite.testing import SetClock, small_office, small_pack

CAMPAIGN = "material-base"
PEOPLE = {"eva": "evaluation", "otto": "evaluation", "ada": "", "bea": ""}
RUNS = f"/api/v1/campaigns/{CAMPAIGN}/submissions"


class Stage:
    """Everything the season needs: organisers' and teams' command lines, and the server between them."""

    def __init__(self, folder, clock, office):
        self.folder, self.clock, self.office = folder, clock, office
        self.tokens, self.client = {}, None
        self.pack = small_pack(folder / "pack")
        self.surprise = small_pack(folder / "surprise", Spec(queries=6, documents=30, seed=4, language="1S"))

    def admin(self, *words, ok=True):
        """What an organiser types."""
        line = ["admin", *map(str, words), "--data", str(self.office.settings.data), "--json"]
        where = place(self.office.settings.data).environment()
        ended = CliRunner(env=where).invoke(app, line, obj=GivenClock(self.clock))
        assert (ended.exit_code == 0) == ok, (words, ended.output, ended.exception)
        return json.loads(ended.stdout)

    def submit(self, who, dataset, queryset, *, task="CLIR", language="1A", file=None, wait=True, **more):
        """What a team types; gives the exit code and what was printed."""
        path = self.folder / "run.tgz"
        shutil.copy(file or self.pack.perfect, path)
        (self.folder / "token").write_text(self.tokens[who])
        words = ["--campaign", CAMPAIGN, "--task", task, "--label", "run", "--language", language]
        words += ["--dataset", dataset, "--queryset", queryset, "--token-file", str(self.folder / "token")]
        words += ["--type", more.get("type", "contrastive")]
        words += ["--server", str(self.client.base_url), "--json", "--wait" if wait else "--no-wait"]
        ended = CliRunner().invoke(app, ["submit", str(path), *words])
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            return 1, {problem.rule for problem in getattr(ended.exception, "problems", ())}
        return ended.exit_code, json.loads(ended.stdout)["submission"]

    def get(self, who, path, **params):
        return self.client.get(path, params=params, headers=bearer(self.tokens[who])).json()

    def all_ended(self):
        """Wait until nothing is under way."""
        while any(not one["final"] for one in self.get("eva", RUNS, limit=200)["submissions"]):
            time.sleep(0.5)

    def two_agree(self, *words):
        """An act that takes two people."""
        self.admin(*words, "--as", "eva@people.example")
        return self.admin("approvals", "agree", "--as", "otto@people.example")

    def truth(self, dataset, queryset, *, key=None, task="CLIR", language="1A", more=()):
        """Open a task on a data set with its key."""
        place = ["--task", task, "--dataset", dataset, "--language", language, "--queryset", queryset]
        self.two_agree("reference", "add", key or self.pack.key, *place, "--reason", "first", *more)


@pytest.fixture
def stage(tmp_path):
    clock = SetClock("2017-10-18 12:00")
    office = small_office(tmp_path, clock)
    made = Stage(tmp_path, clock, office)
    with live(office, worker=True) as address, httpx2.Client(base_url=address, timeout=60) as client:
        made.client = client
        yield made
    office.close()


def kick_off(stage):
    """The plan is added, people come, teams are made, terms are signed and accepted."""
    stage.admin("campaign", "add", ROOT / "examples" / "campaign" / "material-base.toml")
    for name, role in PEOPLE.items():
        stage.admin("people", "add", f"{name}@people.example", "--name", name.title())
        if role:
            stage.admin("people", "grant", f"{name}@people.example", role, "--reason", "organises")
        scopes = [part for scope in ("read", "submit", "download", "organise") for part in ("--scope", scope)]
        made = stage.admin("token", f"{name}@people.example", "--label", "season", "--days", "366", *scopes)
        stage.tokens[name] = made["token"]
    for team, pi in (("FLAIR", "ada"), ("Beta", "bea")):  # the maker of the summaries in the example (M44)
        stage.admin("team", "add", team, "--pi", f"{pi}@people.example")
        path = f"/api/v1/campaigns/{CAMPAIGN}"
        headers = bearer(stage.tokens[pi])
        copy = stage.client.post(f"{path}/agreements/data/copy", content=b"%PDF-1.7 signed", headers=headers).json()
        done = f"{path}/signatures/{copy['signature']}/counter-signature"
        assert stage.client.post(done, headers=bearer(stage.tokens["eva"])).json()["state"] == "executed"
        stage.client.post(f"{path}/rules/usage/acceptance", json={"version": "1"}, headers=headers)


@pytest.mark.slow
def test_the_base_period_is_played(stage):
    kick_off(stage)
    development(stage)
    larger_sets(stage)
    blind_week(stage)
    dry_run(stage)
    summaries_week(stage)
    surprise(stage)


test_the_base_period_is_played = pytest.mark.timeout(600)(
    pytest.mark.req("M62", "M63", "M64", "M66", "M67", "M68", "M69", "M70", "M79", "C25")(
        test_the_base_period_is_played
    )
)


def development(stage):
    """Packs come out; submissions get full values on DEV, limited ones on EVAL1, and one a week of these (M64, M69)."""
    code, rules = stage.submit("ada", "DEV", "QUERY1")
    assert (code, "M62" in rules) == (1, True)
    stage.clock.set("2017-11-21 12:00")
    stage.admin("pack", "add", "DEV", stage.pack.documents, "--campaign", CAMPAIGN)
    packs = {pack["id"]: pack for pack in stage.get("ada", f"/api/v1/campaigns/{CAMPAIGN}/packs")}
    file = packs["DEV"]["files"][0]["id"]
    content = stage.client.get(
        f"/api/v1/campaigns/{CAMPAIGN}/packs/files/{file}", headers=bearer(stage.tokens["ada"])
    ).content
    assert content == stage.pack.documents.read_bytes()
    for dataset in ("DEV", "EVAL1"):
        stage.truth(dataset, "QUERY1")
    code, shown = stage.submit("ada", "DEV", "QUERY1")
    assert (code, shown["state"], shown["result"]["data"]["values"]["aqwv"]["value"]) == (0, "scored", 1.0)
    code, shown = stage.submit("ada", "EVAL1", "QUERY1")
    assert (code, shown["result"]["level"]) == (0, "limited")
    assert set(shown["result"]["data"]["values"]) <= {"aqwv", "aqwv_all", "aqwv_relevant"}
    assert stage.submit("ada", "EVAL1", "QUERY1") == (1, {"M64"})
    assert stage.submit("bea", "EVAL1", "QUERY1", file=stage.pack.invalid)[1]["state"] == "invalid"
    assert stage.submit("bea", "EVAL1", "QUERY1", wait=False)[0] == 0
    stage.clock.set("2017-11-27 05:00")
    assert stage.submit("ada", "EVAL1", "QUERY1", wait=False)[0] == 0


def larger_sets(stage):
    """After EVAL2 is out EVAL1 alone is not scored any more (M63)."""
    stage.clock.set("2018-04-10 12:00")
    stage.truth("EVAL1+EVAL2", "QUERY2")
    code, rules = stage.submit("ada", "EVAL1", "QUERY2")
    assert (code, "M63" in rules) == (1, True)
    assert stage.submit("ada", "EVAL1+EVAL2", "QUERY2", wait=False)[0] == 0


def blind_week(stage):
    """Four and one primary; validity and nothing else is shown; then top level, later details (M66, M68, M70)."""
    stage.clock.set("2018-05-15 12:00")
    both = ("EVAL1+EVAL2", "QUERY2")
    code, shown = stage.submit("ada", *both, type="primary")
    assert (code, shown["state"], shown["result"]) == (0, "accepted", None)
    code, silent = stage.submit("bea", *both, type="primary", file=stage.pack.silent)
    assert (silent["state"], silent["result"]) == ("accepted", None)
    assert stage.submit("ada", *both, type="primary") == (1, {"M66"})
    for _ in range(4):
        assert stage.submit("ada", *both, wait=False)[0] == 0
    assert stage.submit("ada", *both) == (1, {"M64"})
    stage.clock.set("2018-05-19 12:00")
    assert stage.get("ada", shown["url"])["result"] is None
    assert stage.get("ada", f"/api/v1/campaigns/{CAMPAIGN}/results", window="clir-week-eval") == []
    release(stage, "clir-week-eval", "certification")
    assert stage.get("ada", shown["url"])["result"] is None  # nothing before the moment that the calendar names
    stage.clock.set("2018-05-25 12:00")
    assert stage.get("ada", shown["url"])["result"] is not None
    release(stage, "clir-week-eval", "top")
    top = stage.get("bea", silent["url"])["result"]
    assert (top["data"]["values"]["aqwv"]["value"], top["data"].get("breakdowns") or {}) == (0.0, {})
    release(stage, "clir-week-eval", "details")
    assert stage.get("bea", silent["url"])["result"]["level"] == "full"


def release(stage, window, level):
    stage.all_ended()
    stage.two_agree("release", window, level, "--reason", "as planned", "--campaign", CAMPAIGN)


def dry_run(stage):
    """The key of EVAL3 comes out with the dry run, which is validated and shows no score."""
    stage.clock.set("2018-07-25 12:00")
    all_three = ("EVAL1+EVAL2+EVAL3", "QUERY2QUERY3")
    stage.truth(*all_three)
    code, shown = stage.submit("ada", *all_three)
    assert (code, shown["state"], shown["result"]) == (0, "accepted", None)


def summaries_week(stage):
    """One primary E2E and up to four contrastive CLIR; no CLIR primary (M67)."""
    stage.clock.set("2018-08-07 12:00")
    all_three = ("EVAL1+EVAL2+EVAL3", "QUERY2QUERY3")
    example = ROOT / "examples" / "e2e"
    stage.truth(*all_three, key=example / "key", task="E2E", more=("--judgements", example / "Alpha.judgements.tsv"))
    code, primary = stage.submit("ada", *all_three, task="E2E", type="primary", file=example / "Alpha.tgz")
    assert (code, primary["state"], primary["result"]) == (0, "accepted", None), primary["problems"]
    assert stage.submit("ada", *all_three, type="primary") == (1, {"M67"})
    code, contrastive = stage.submit("ada", *all_three)
    assert (code, contrastive["state"]) == (0, "accepted")
    stage.clock.set("2018-08-13 12:00")
    release(stage, "clirs-week-eval", "certification")
    stage.clock.set("2018-10-02 12:00")
    release(stage, "clirs-week-eval", "top")
    assert stage.get("ada", contrastive["url"])["result"] is not None


def surprise(stage):
    """The surprise language has packs, query sets and counts of its own."""
    stage.clock.set("2018-10-02 13:00")
    stage.truth("1S-DEV", "QUERY1", key=stage.surprise.key, language="1S")
    code, shown = stage.submit("bea", "1S-DEV", "QUERY1", language="1S", file=stage.surprise.perfect)
    assert (code, shown["state"]) == (0, "scored"), shown
    assert Path(f"{stage.folder / 'run.tgz'}.receipt.json").is_file()
