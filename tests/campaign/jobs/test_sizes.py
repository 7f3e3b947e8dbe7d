"""The sizes of the published evaluation are scored in a limited child, with the value that the generator knows."""

import json

import pytest

from basanite.campaign.jobs.scoring_process import Given, Order, run_order
from basanite.synthetic.clir import Quality, Spec, exact_value, write_key, write_system

SIZES = {
    "the first pack on the development set": Spec(queries=300, documents=650, seed=1),
    "all queries on the development set": Spec(queries=300 + 400 + 600, documents=650, seed=1),
    "the largest pack on all evaluation sets": Spec(queries=600, documents=3 * 5000, seed=1),
}
SLOW = {"all queries on the development set", "the largest pack on all evaluation sets"}


@pytest.fixture(autouse=True)
def children():
    """Real ones, each a new Python in a box: they are what is looked at here."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("size", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in SIZES])
def test_the_published_numbers_of_queries_and_documents_are_scored(size, sqlite_office, tmp_path):
    spec, quality = SIZES[size], Quality("Alpha", 8.0)
    key, run = tmp_path / "key.tgz", tmp_path / "Alpha.tgz"
    write_key(spec, key)
    write_system(spec, quality, run)
    given = {"reference": (Given("key.tgz", key),), "submission": Given("Alpha.tgz", run)}
    with run_order(sqlite_office, Order("examine", "clir", **given, settings={"beta": 20}, draws=20)) as outcome:
        assert outcome.good, outcome.fault
        found = json.loads(outcome.path("result.json").read_bytes())
    exact = exact_value(spec, quality, 20)
    assert found["values"]["aqwv"]["value"] == pytest.approx(exact["aqwv"] if isinstance(exact, dict) else exact)
