"""Deadlines, standing, primaries, who is compared (P-23, C46, M78, X-2)."""

from datetime import timedelta
from itertools import product

from basanite.campaign.model.standings import Run, compared_runs, standing

SECOND = timedelta(seconds=1)


def test_the_start_of_the_upload_decides_if_it_is_complete_within_the_grace(small):
    row = small.window("week")
    closes, grace = row.closes.utc, row.transfer_grace
    assert standing(row, closes - SECOND, closes - SECOND + grace) == "on time"
    assert standing(row, closes - SECOND, closes + grace) == "late"
    assert standing(row, closes, closes + SECOND) == "late"
    assert standing(row, row.opens.utc, closes - SECOND) == "on time"
    assert standing(row, row.opens.utc, closes) == "late"


def test_only_primaries_in_good_standing_are_compared_and_the_rest_is_counted():
    runs = [
        Run("a", "A", "primary", "CLIR"),
        Run("a2", "A", "contrastive", "CLIR"),
        Run("b", "B", "primary", "CLIR", standing="late"),
        Run("c", "C", "primary", "CLIR", standing="late", admitted=True),
        Run("d", "D", "primary", "CLIR", standing="withdrawn"),
        Run("e", "E", "primary", "CLIR", standing="disqualified"),
        Run("f", "F", "primary", "CLIR", described=False),
        Run("g", "G", "primary", "CLIR", state="failed"),
        Run("h", "H", "contrastive", "CLIR", standing="baseline"),
        Run("i", "I", "contrastive", "CLIR"),
    ]
    found = compared_runs(runs, "ABCDEFGI")
    assert [run.id for run in found.runs] == ["a", "c"]
    assert [run.id for run in found.baselines] == ["h"]
    assert found.left_out == {
        "late": 1, "withdrawn": 1, "disqualified": 1, "description incomplete": 1, "not scored": 1, "no primary": 1,
    }  # fmt: skip


def test_for_every_state_a_run_is_either_compared_or_counted_or_contrastive():
    standings = ("on time", "late", "withdrawn", "disqualified", "baseline")
    for kind, stands, admitted, state in product(("primary", "contrastive"), standings, (0, 1), ("scored", "invalid")):
        run = Run("r", "T", kind, "CLIR", state=state, standing=stands, admitted=bool(admitted))
        found = compared_runs([run])
        spoke = kind == "primary" or stands == "baseline"
        in_ranks = stands == "on time" or (stands == "late" and admitted)
        assert bool(found.runs) == (spoke and in_ranks and state == "scored")
        assert bool(found.baselines) == (stands == "baseline" and state == "scored")
        assert len(found.runs) + len(found.baselines) + sum(found.left_out.values()) == int(spoke)


def test_a_team_without_primary_is_left_out_and_counted():
    assert compared_runs([Run("a", "A", "contrastive", "CLIR")], ["A"]).left_out == {"no primary": 1}
