"""The doctor says whether scoring can be boxed on this machine, and what follows if not."""

import pytest
from tests.cli.running import here

from basanite.cli.operating import installation
from basanite.harness.sandbox import running
from basanite.server import checkup
from basanite.testing import small_office


@pytest.mark.req("X-8", "P-11")
def test_the_doctor_tells_whether_scoring_runs_in_a_box(tmp_path):
    shown = here("doctor", "--data", "season", "--json", cwd=tmp_path)
    (box,) = [one for one in shown.data["findings"] if one["name"] == "box"]
    assert (box["state"] == "good") == running.capability().possible
    assert ("in a box" in box["words"]) == running.capability().possible


@pytest.mark.req("X-8")
@pytest.mark.parametrize(
    ("box", "words"), [("required", "sealed references are not scored"), ("best", "a limited child without network")]
)
def test_where_no_box_can_be_made_the_doctor_says_what_follows(tmp_path, monkeypatch, box, words):
    monkeypatch.setattr(running, "capability", lambda: running.Capability("", "not here"))
    office = small_office(tmp_path, limits={"box": box})
    found = checkup.box(office)
    office.close()
    assert (found.state, words in found.words) == ("note", True)


@pytest.mark.req("P-2", "P-3")
def test_where_no_season_lies_the_doctor_tells_what_is_installed_and_makes_nothing(tmp_path):
    shown = here("doctor", cwd=tmp_path)
    assert shown.code == 0
    assert shown.stdout.startswith("ok    basanite: version ")
    assert "note  season: none lies here" in shown.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("P-2")
def test_an_extra_that_is_missing_is_told_with_what_it_is_for_and_how_to_get_it(monkeypatch):
    monkeypatch.setattr(installation.metadata, "requires", lambda name: ["no-such-package>=1; extra == 'reading'"])
    (found,) = [one for one in installation.installation() if one.name == "extra reading"]
    assert (found.state, found.cure) == ("note", "pip install 'basanite[reading]'")
    assert "not installed (no-such-package), only needed for reasoning" in found.words


def test_a_season_whose_folder_is_named_is_examined_even_if_it_is_not_there_yet(tmp_path):
    found = {one["name"] for one in here("doctor", "--data", "season", "--json", cwd=tmp_path).data["findings"]}
    assert {"basanite", "extra server", "settings", "database", "workers"} <= found


@pytest.mark.req("P-2")
@pytest.mark.parametrize("extra", installation.EXTRAS)
def test_every_extra_that_the_doctor_names_is_one_that_can_be_installed(extra):
    assert list(installation.packages(extra)) != []
