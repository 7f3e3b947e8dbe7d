"""A board of answers that a judge graded: corrected values with the license of the judge, sealed until they are out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.doors.examples import EXAMPLES
from tests.doors.stage import staged

from basanite.campaign.actions import references
from basanite.campaign.office import Actor
from basanite.campaign.store.tables import Release

CAMPAIGN = """format = "basanite-campaign/1"
slug = "graded"
title = "Graded answers"
zone = "UTC"
period = "BASE"
languages = ["1A"]
sealed = false
seed = 7

[[packs]]
id = "DEV"
family = "dev"
released = "2025-12-01 00:00"

[[windows]]
id = "dev"
title = "Development"
opens = "2026-01-01 00:00"
closes = "2026-12-31 24:00"
tasks = ["judged"]
dataset = ["DEV"]
languages = ["1A"]
quota = { count = 10, period = "week" }
feedback = "limited"
kind = "development"
board = "best"
settings = { draws = 50 }
"""
RUNS = {"ada": "terse", "bea": "wordy"}


@pytest.fixture
def stage(tmp_path):
    """Two teams have sent the answers of the example, and the judge's calibration is the reference."""
    with staged(tmp_path, CAMPAIGN, datetime(2026, 2, 1, 12, tzinfo=UTC)) as made:
        paths = references.Paths((EXAMPLES / "judged" / "calibration.jsonl",), None, (), None)
        place = references.Place("judged", "DEV", "1A", "")
        with made.office.writing() as session:
            version = references.NewVersion(place, references.take_in(made.office, paths))
            references.add(session, made.office, Actor("command"), made.people.campaign_id, version)
        for who, system in RUNS.items():
            content = (EXAMPLES / "judged" / f"{system}.jsonl").read_bytes()
            said = {"task": "judged", "label": system, "filename": f"{system}.jsonl"}
            answer = made.post(who, content, "DEV", queryset="", **said)
            assert answer.status_code == 201, answer.text
        made.work()
        yield made


def board(stage, who):
    return stage.get(who, "/leaderboard", window="dev", task="judged", language="1A")


def release(stage):
    with stage.office.writing() as session:
        for level in ("top", "public"):
            facts = {"window": "dev", "level": level, "by": stage.people.eva, "reason": "x", "open_appeals": []}
            session.add(
                Release(campaign_id=stage.people.campaign_id, seconded_by=None, at=stage.office.clock(), **facts)
            )


@pytest.mark.req("L-6", "L-7")
def test_a_board_shows_naive_and_corrected_values_with_the_license_once_they_are_out(stage):
    sealed = board(stage, "").text
    assert "lenient-judge" not in sealed
    assert "0.79" not in sealed
    release(stage)
    stage.work()
    shown = board(stage, "ada").json()
    assert shown["metrics"] == ["corrected", "judge_alone", "people_alone"]
    rows = {row["system"]: row for row in shown["rows"]}
    terse, wordy = rows["terse"], rows["wordy"]
    assert terse["value"] > wordy["value"]
    assert terse["values"]["judge_alone"][0] < wordy["values"]["judge_alone"][0], "the judge alone is wrong"
    note = next(one for one in shown["notes"] if one.startswith("judge lenient-judge"))
    assert "expires 2026-07-14" in note
    assert "(expired" not in note
    stage.clock.forward(days=200)
    late = board(stage, "ada").json()["notes"]
    assert any(one.endswith("(expired: calibrate the judge again)") for one in late)
    page = stage.client.get("/campaigns/graded/leaderboard").text
    for words in ("Corrected value", "Judge alone", "lenient-judge", "(expired"):
        assert words in page
