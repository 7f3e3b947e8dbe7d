"""Open queries never count toward a final value (M20): proven by scoring with and without them."""

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

import basanite
from basanite.analysis.results import score_object
from basanite.campaign.model.windows import closed_sets, final_result, has_final_value, open_sets, openness_table

CLIR = Path(__file__).resolve().parents[3] / "examples" / "clir"
QUERIES = sorted(path.stem for path in (CLIR / "key").glob("*.tsv"))


@pytest.fixture
def mixed(small):
    """An evaluation week on an open query set and a closed one."""
    return replace(small.window("week"), querysets=("QUERY1", "QUERY2"))


@pytest.fixture
def sets():
    """Half of the example's queries are open."""
    return {"QUERY1": QUERIES[::2], "QUERY2": QUERIES[1::2]}


def scored(reference, submission, *metadata):
    """What `score --json` prints."""
    found = basanite.score(
        "clir", reference=reference, submission=submission, metadata=metadata, draws=100, seed=1, language="1A"
    )
    return score_object(found)


@pytest.fixture
def alone(tmp_path):
    """Key and submission with some queries only, as folders."""

    def cut(queries):
        for part in ("key", "run"):
            (tmp_path / part).mkdir()
        with tarfile.open(CLIR / "Alpha.tgz") as archive:
            members = {
                Path(member.name).stem: archive.extractfile(member).read() for member in archive if member.isfile()
            }
        for query in queries:
            (tmp_path / "key" / f"{query}.tsv").write_bytes((CLIR / "key" / f"{query}.tsv").read_bytes())
            (tmp_path / "run" / f"{query}.tsv").write_bytes(members[query])
        return tmp_path / "key", tmp_path / "run"

    return cut


@pytest.mark.req("M20")
def test_the_final_value_is_the_one_of_the_closed_queries_alone(small, mixed, sets, alone, tmp_path):
    table = tmp_path / "openness.tsv"
    every = sorted({*sets["QUERY1"], *sets["QUERY2"]})
    table.write_text(openness_table(every, set(sets["QUERY1"])), encoding="utf-8")
    whole = scored(CLIR / "key", CLIR / "Alpha.tgz", table)
    final = final_result(whole, small, mixed)
    only_closed = scored(*alone(sets["QUERY2"]))
    for name in ("aqwv", "aqwv_all", "aqwv_relevant", "pmiss", "pfa"):
        assert final["values"][name]["value"] == pytest.approx(only_closed["values"][name]["value"], abs=1e-9)
    assert final["values"]["aqwv"]["value"] != pytest.approx(whole["values"]["aqwv"]["value"], abs=1e-6)
    assert final["breakdowns"] == {}


def test_a_window_of_open_queries_has_no_final_value(small, mixed):
    opened = replace(mixed, querysets=("QUERY1",))
    assert not has_final_value(small, opened)
    assert final_result({"values": {"aqwv": {"value": 0.9}}}, small, opened) is None


def test_closed_queries_count_as_they_are(small, mixed):
    closed, result = replace(mixed, querysets=("QUERY2",)), {"values": {"aqwv": {"value": 0.9}}}
    assert final_result(result, small, closed) == result
    assert (open_sets(small, mixed), closed_sets(small, mixed)) == (("QUERY1",), ("QUERY2",))
    assert has_final_value(small, replace(mixed, querysets=()))


def test_a_result_that_does_not_tell_open_from_closed_is_no_final_one(small, mixed):
    assert final_result({"values": {"aqwv": {"value": 0.9}}, "breakdowns": {}}, small, mixed) is None
