"""The doctor says whether scoring can be boxed on this machine, and what follows if not."""

import pytest
from tests.cli.running import here

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
