"""Panels in exports and backups: what was said goes along, rights and people do not."""

from sqlalchemy import select
from tests.campaign.work.panels.conftest import pairs, verdict_scheme

from basanite.campaign.archive.campaign_export import export_campaign
from basanite.campaign.archive.campaign_import import import_campaign
from basanite.campaign.office import COMMAND
from basanite.campaign.store.tables import Assignment, Judgement, Panel, PanelConsent, PanelDecision, Seat
from basanite.campaign.work.panels import adjudication, batches, outcome
from basanite.testing import SetClock, small_office


def test_an_exported_panel_says_the_same_elsewhere_and_gives_nobody_a_seat(bench, tmp_path):
    panel = bench.panel(verdict_scheme(), pairs(3), ["jo", "kim"])
    for judge, verdict in (("jo", "R"), ("kim", "N")):
        bench.begin(panel, judge, languages=["Tagalog"])
        bench.say_all(panel, judge, lambda found, v=verdict: {"verdict": v})
    case = bench.ask(lambda session, office: adjudication.queue(session, panel))[0]
    bench.do(adjudication.decide, bench.season.as_eva, case.id, {"verdict": "R"}, "it says so")
    bench.do(batches.export_batch, bench.season.as_eva, panel)
    export_campaign(bench.office, bench.season.campaign_id, tmp_path / "exported")
    text = b"".join(path.read_bytes() for path in (tmp_path / "exported").rglob("*") if path.is_file())
    assert b"judges.example" not in text
    assert b"Tagalog" not in text
    other = small_office(tmp_path / "other", SetClock())
    import_campaign(other, COMMAND, tmp_path / "exported")
    with other.reading() as session, bench.office.reading() as before:
        for table in (Judgement, PanelDecision, Assignment):
            assert len(session.scalars(select(table)).all()) == len(before.scalars(select(table)).all())
        assert session.scalars(select(Seat)).all() == session.scalars(select(PanelConsent)).all() == []
        assert {row.person_id[:8] for row in session.scalars(select(Judgement))} == {"foreign-"}
        assert session.get_one(Panel, panel).scheme == verdict_scheme()
        here, there = outcome.files(before, bench.office, panel), outcome.files(session, other, panel)
    assert (here.judgements, here.undecided, here.rule) == (there.judgements, there.undecided, there.rule)
    other.close()
