"""Boards say what difference their data can show; while a window is open, values are marked as interim."""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace

import pytest

from basanite.campaign.actions import releases
from basanite.synthetic.clir import write_members

HOME = "/campaigns/small"
BOARD = f"{HOME}/leaderboard?of=week|CLIR|1A|"


def mixed(pack, folder):
    """A run that is perfect on every second query and silent on the others."""
    members = []
    for at, path in enumerate((pack.perfect, pack.silent)):
        with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as archive:
            files = sorted((one for one in archive if one.isfile()), key=lambda one: one.name)
            members += [(one.name, archive.extractfile(one).read()) for one in files[at::2]]
    write_members(sorted(members), folder / "mixed.tgz")
    return folder / "mixed.tgz"


@pytest.mark.req("S-33")
def test_own_runs_of_an_open_window_are_compared_as_interim(visit, stage, clock):
    runs = [stage.submit(file=name, label=name, kind="contrastive") for name in ("silent", "perfect")]
    address = f"{HOME}/compare?run={runs[0]}&run={runs[1]}"
    assert "interim" in visit("ada").get(address).text
    clock.set("2019-04-03 12:00")
    assert "interim" not in visit("ada").get(address).text


@pytest.mark.req("S-30")
@pytest.mark.req("S-33")
def test_a_board_says_what_its_data_can_show_and_an_open_window_is_interim(visit, stage, clock, tmp_path):
    stage = replace(stage, pack=replace(stage.pack, silent=mixed(stage.pack, tmp_path)))
    looked = stage.submit("alpha", "perfect", label="look")
    page = visit("ada").get(f"{HOME}/submissions/{looked}").text
    assert "interim" in page
    assert "the best of many runs on the same data looks better than it is" in page
    clock.set("2018-04-03 12:00")
    stage.submit("alpha", "perfect")
    stage.submit("beta", "silent")
    clock.set("2018-04-09 06:00")
    for level in ("certification", "top"):
        stage.do(releases.release, stage.season.as_eva, stage.season.campaign_id, releases.LevelRelease("week", level))
        clock.forward(days=7)
    assert stage.compare_all() == 1
    bea = visit("bea")
    page = bea.get(BOARD).text
    assert "With these data, a difference of" in page
    assert "interim" not in page
    where = {"window": "week", "task": "CLIR", "language": "1A"}
    board = bea.client.get("/api/v1/campaigns/small/leaderboard", params=where).json()
    least, most = board["detectable"]
    assert 0 < least == most
    assert board["interim"] is False
