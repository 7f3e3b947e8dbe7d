"""A team that wants the labels: on a sealed window its looks are bounded unless the campaign's file lets it go on."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.offices.prepared import small_season
from tests.server.conftest import add_reference, with_token
from tests.server.doors.sending import bearer, send_raw

from basanite.campaign.jobs.worker import running, until_idle
from basanite.campaign.model.prober import Prober
from basanite.server.app import make_app
from basanite.synthetic.clir import Spec
from basanite.testing import small_campaign_text
from basanite.testing.season import small_pack

SPEC = Spec(queries=4, documents=24, seed=5, empty=0.0)
BETA = 20.0


def sealed_text(more=""):
    """The small season, whose development window shows rounded values on a sealed set."""
    text = small_campaign_text(quota=100).replace("sealed = false", "sealed = true", 1)
    return text.replace('feedback = "full"', f'feedback = "limited"\n{more}', 1)


@dataclass
class Team:
    """A team at the door: each submission says yes to some documents; what it saw is kept."""

    client: TestClient
    office: Any
    token: str
    documents: dict[str, list[str]]
    shown: list[dict[str, Any]] = field(default_factory=list)
    most: int = 40

    def submit(self, yes):
        """What the team sees of a submission that says yes to these and no to the rest."""
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w:gz") as archive:
            for query, documents in self.documents.items():
                marks = ("Y\t1.0" if (query, one) in yes else "N\t0.0" for one in documents)
                lines = "".join(f"{one}\t{mark}\n" for one, mark in zip(documents, marks, strict=True)).encode()
                entry = tarfile.TarInfo(f"{query}.tsv")
                entry.size = len(lines)
                archive.addfile(entry, io.BytesIO(lines))
        sent = send_raw(self.client, self.token, made.getvalue(), label=f"try{len(self.shown)}", type="contrastive")
        assert sent.status_code == 201, sent.text
        assert until_idle(self.office, 60) == 0
        self.office.clock.forward(minutes=1)
        seen = self.client.get(sent.json()["url"], headers=bearer(self.token)).json()["result"]
        self.shown.append(seen)
        return seen

    def value(self):
        """The newest value that is shown."""
        return self.shown[-1]["data"]["values"]["aqwv"]["value"]

    def look(self, yes):
        """The value of a submission, as long as each is shown."""
        if len(self.shown) == self.most:
            return None
        return self.value() if self.submit(yes)["level"] == "limited" else None

    def climb(self, yes):
        """Whether a submission moves the value; given up after a few tries."""
        if len(self.shown) >= 12:
            return None
        before = self.value()
        self.submit(yes)
        return self.value() > before


def key_of(pack):
    """By query, its documents, and the pairs that are relevant."""
    documents, relevant = {}, set()
    for path in sorted(pack.key.iterdir()):
        rows = [line.split("\t") for line in path.read_text().splitlines()]
        documents[path.stem] = [row[0] for row in rows]
        relevant |= {(path.stem, row[0]) for row in rows if row[1] == "Y"}
    return documents, relevant


def probe(office, tmp_path, text):
    """Send the prober through the door: the team, what it holds for relevant, and what is."""
    small, pack = small_season(office, text), small_pack(tmp_path, SPEC)
    add_reference(office, small, pack, "DEV")
    documents, relevant = key_of(pack)
    with TestClient(make_app(office)) as client, running(office, ()):
        team = Team(client, office, with_token(office, small.ada), documents)
        return team, Prober(documents, BETA, team.look, team.climb).probe(), relevant


@pytest.mark.slow
@pytest.mark.req("X-23")
def test_on_a_sealed_window_a_prober_learns_little_after_the_looks_that_hold_by_default(office, tmp_path):
    team, found, relevant = probe(office, tmp_path, sealed_text())
    levels = [one["level"] for one in team.shown]
    assert levels == ["limited"] * 10 + ["ladder"] * 2
    best = max(one["data"]["values"]["aqwv"]["value"] for one in team.shown[:10])
    assert [one["data"]["values"] for one in team.shown[10:]] == [{"aqwv": {"value": best, "step": 0.001}}] * 2
    assert len(found & relevant) <= len(relevant) / 4


@pytest.mark.slow
@pytest.mark.req("X-23")
def test_a_prober_reads_the_key_off_where_looks_and_ladder_are_both_switched_off(office, tmp_path):
    team, found, relevant = probe(office, tmp_path, sealed_text("looks = false\nladder = false"))
    assert {one["level"] for one in team.shown} == {"limited"}
    assert len(found & relevant) >= 0.8 * len(relevant)
