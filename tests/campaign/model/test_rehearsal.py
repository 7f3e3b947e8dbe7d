"""A season played beforehand, and what would have gone wrong in it (P-30)."""

from dataclasses import replace
from datetime import timedelta

from basanite.campaign.model.plan import Quota, Track
from basanite.campaign.model.rehearsal import Crew, rehearse
from basanite.campaign.model.zones import Instant


def faults(campaign, **options):
    """What would go wrong, in words."""
    return [problem.message for problem in rehearse(campaign, **options).faults]


def with_window(campaign, name, **changes):
    """The campaign with one row changed."""
    rows = (replace(one, **changes) if one.id == name else one for one in campaign.windows)
    return replace(campaign, windows=tuple(rows))


def with_pack(campaign, name, **changes):
    """The campaign with one pack changed."""
    return replace(campaign, packs=tuple(replace(one, **changes) if one.id == name else one for one in campaign.packs))


def test_the_shipped_examples_would_go_well(small, base):
    assert faults(small) == []
    assert faults(base, crew=Crew(teams=2)) == []


def test_the_play_goes_through_every_row_with_every_team(small):
    steps = rehearse(small, crew=Crew(teams=2)).steps
    assert [step.at for step in steps] == sorted(step.at for step in steps)
    taken = {(step.team, step.window) for step in steps if step.what == "submits" and not step.refused}
    assert taken == {(team, row) for team in ("Team1", "Team2") for row in ("dev", "look", "week")}
    assert {step.what for step in steps} == {"opens", "submits", "is about to close", "closes"}


def test_a_window_that_is_over_when_the_season_begins_is_never_open(small, utc):
    [message] = faults(small, start=utc(2026, 2, 24))
    assert message.startswith("look: never open")


def test_a_quota_of_nothing_is_found(small):
    assert faults(with_window(small, "look", quota=Quota(0))) == ["look: the quota is 0"]


def test_data_keys_and_queries_that_come_late_are_found(small, utc):
    late = Instant(utc(2026, 3, 3))
    assert "key of EVAL2" in faults(with_pack(small, "EVAL2", key_at=late))[0]
    assert any("the data pack DEV is released" in message for message in faults(with_pack(small, "DEV", released=late)))
    queries = tuple(replace(one, released=late) for one in small.querysets)
    assert sum("the queries QUERY" in message for message in faults(replace(small, querysets=queries))) == 3


def test_an_impossible_primary_is_found(small):
    types = {"E2E/primary": 0, "CLIR/primary": 0, "E2E/contrastive": 1, "CLIR/contrastive": 4}
    messages = faults(with_window(small, "week", quota=Quota(5, "total", types)))
    assert "week: a primary E2E or CLIR is impossible" in messages


def test_a_row_that_a_later_release_overtakes_is_found(small):
    messages = faults(with_window(small, "look", closes=small.window("week").opens))
    assert messages == ["look: accepts no CLIR submission at its end"]


def test_too_few_judges_and_an_unreachable_k_are_found(small):
    assert faults(replace(small, judging={"k": 3, "judges": 2})) == [
        "K = 3 judgments per summary cannot be reached with 2 judges"
    ]
    [message] = faults(replace(small, judging={"k": 3, "judges": 12, "per_judge": 10, "pairs": 100}))
    assert message == "too few judges: 900 judgments are needed, and 12 judges can give 120"
    assert faults(small, crew=Crew(teams=3, judges=2))[0].startswith("K = 3")
    assert faults(replace(small, judging={})) == []


def test_a_release_before_certification_ends_is_found(small):
    row = small.window("week")
    early = Instant(row.closes.utc + timedelta(days=6))
    assert "before certification ends" in faults(with_window(small, "week", results_at=(early,)))[0]


def test_an_evaluation_on_open_queries_alone_is_found(small):
    opened = tuple(replace(one, open=True) for one in small.querysets)
    assert "week: nothing counts, because all queries are open" in faults(replace(small, querysets=opened))


def test_parts_that_no_row_uses_are_found(small, utc):
    more = replace(small.packs[0], id="SPARE", family="spare")
    assert "the pack SPARE is in no window" in faults(replace(small, packs=(*small.packs, more)))
    rows = tuple(replace(one, tracks=("open", "human")) for one in small.windows)
    tracks = (*small.tracks, Track("idle", "Idle"))
    assert "the track idle is in no window" in faults(replace(small, windows=rows, tracks=tracks))
    [agreement] = small.agreements
    ends = replace(agreement, expires=Instant(utc(2026, 3, 1)))
    assert any("expires before" in message for message in faults(replace(small, agreements=(ends,))))


def test_every_fault_has_a_cure(small, utc):
    broken = with_window(replace(small, judging={"k": 9, "judges": 1}), "look", quota=Quota(0))
    for problem in rehearse(broken, start=utc(2026, 1, 1)).faults:
        assert problem.rule == "P-30"
        assert problem.fix


def test_a_campaign_without_windows_has_nothing_to_play(small):
    assert rehearse(replace(small, windows=())).steps == ()
