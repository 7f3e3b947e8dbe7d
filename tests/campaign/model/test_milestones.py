"""The calendar with its milestones (P-19)."""

from basanite.campaign.model.milestones import agenda


def test_milestones_and_windows_stand_in_one_calendar_in_the_order_of_time(base, utc):
    items = agenda(base, utc(2018, 5, 15), {"kickoff": "done"})
    assert [item.begins.utc for item in items] == sorted(item.begins.utc for item in items)
    assert len(items) == len(base.windows) + len(base.milestones)
    by_id = {item.id: item for item in items}
    assert (by_id["kickoff"].state, by_id["kickoff"].overdue) == ("done", False)
    assert (by_id["clir-week-eval"].state, by_id["q1-d"].state, by_id["1s-z-d"].state) == ("open", "over", "before")


def test_a_milestone_has_owner_and_deliverable_and_may_be_overdue(small, utc):
    before = {item.id: item for item in agenda(small, utc(2026, 4, 30))}["report"]
    after = {item.id: item for item in agenda(small, utc(2026, 5, 2))}["report"]
    assert (before.owner, before.deliverable) == ("teams", "system descriptions")
    assert (before.overdue, after.overdue) == (False, True)
    assert not {item.id: item for item in agenda(small, utc(2026, 5, 2), {"report": "done"})}["report"].overdue
