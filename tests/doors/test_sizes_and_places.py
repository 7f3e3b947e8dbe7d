"""The same season on every database and storage by settings alone, and the published sizes, by commands and calls."""

from __future__ import annotations

import pytest
from tests.cli.running import here
from tests.doors.stage import staged
from tests.offices.engines import bucket_server, database_server

from basanite.synthetic.clir import Quality, Spec, exact_value, write_key, write_system
from basanite.testing import small_campaign_text, small_pack

SIZES = {
    "the first pack on the development set": Spec(queries=300, documents=650, seed=1),
    "all queries on the development set": Spec(queries=300 + 400 + 600, documents=650, seed=1),
    "the largest pack on all evaluation sets": Spec(queries=600, documents=3 * 5000, seed=1),
}
SLOW = {"all queries on the development set", "the largest pack on all evaluation sets"}
BETA = "beta=20"


@pytest.mark.req("M76")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("size", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in SIZES])
def test_the_published_numbers_of_queries_and_documents_are_scored(size, tmp_path):
    spec, quality = SIZES[size], Quality("Alpha", 8.0)
    write_key(spec, tmp_path / "key.tgz")
    write_system(spec, quality, tmp_path / "Alpha.tgz")
    words = ("--reference", "key.tgz", "--submission", "Alpha.tgz", "--set", BETA, "--draws", "20", "--json")
    ended = here("score", "clir", *words, cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    found, exact = ended.data["values"]["aqwv"], exact_value(spec, quality, 20)
    assert found["units"] == spec.queries
    assert found["value"] == pytest.approx(exact["aqwv"] if isinstance(exact, dict) else exact)


def play(folder, pack, **settings):
    """Add a key, submit, and score in a worker; gives what the team is shown."""
    with staged(folder, small_campaign_text(), "2018-01-15 12:00", **settings) as stage:
        where = ["--task", "CLIR", "--dataset", "DEV", "--language", "1A", "--queryset", "QUERY1"]
        stage.admin("reference", "add", pack.key, *where, "--reason", "first", "--as", "eva@people.example")
        sent = [stage.post("ada", one.read_bytes(), "DEV").json()["id"] for one in (pack.perfect, pack.invalid)]
        stage.work()
        shown = [stage.get("ada", f"/submissions/{one}").json() for one in sent]
        told = {one["name"]: one["words"] for one in stage.command("doctor")["findings"]}
    result = shown[0]["result"]["data"]
    seen = [one["state"] for one in shown], result["values"], result["breakdowns"], shown[1]["problems"]
    return *seen, told


@pytest.mark.slow
@pytest.mark.req("P-15")
@pytest.mark.store
@pytest.mark.timeout(600)
@pytest.mark.sqlite("both places are chosen here")
def test_another_database_and_storage_by_settings_alone_change_nothing_that_a_team_sees(tmp_path):
    pack = small_pack(tmp_path / "pack")
    *here_seen, here_told = play(tmp_path / "here", pack)
    there = {"url": database_server().fresh(), "storage": bucket_server().fresh()}
    *there_seen, there_told = play(tmp_path / "there", pack, **there)
    assert here_seen[0] == ["scored", "invalid"]
    assert here_seen == there_seen
    assert here_told["database"] == "sqlite"
    assert "postgres" in there_told["database"]
    assert "object store" in there_told["storage"]
