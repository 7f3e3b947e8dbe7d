"""A season on disk for the examples of `basanite admin`: past windows, runs, a proposed key, an appeal."""

from __future__ import annotations

import shutil

from tests.campaign.staging import Stage
from tests.cli.admin_annotation import fill_annotation
from tests.cli.admin_panels import fill_panels
from tests.cli.admin_reading import fill_reading

from basanite.campaign.actions import appeals, approvals, plans, releases, rescoring
from basanite.campaign.actions.packs import NewFile, add_file, find_pack
from basanite.campaign.archive.campaign_export import export_campaign
from basanite.campaign.office import Actor
from basanite.campaign.people import agreements, resources
from basanite.campaign.people.agreements import ask_for_deletion
from basanite.campaign.people.communication import add_webhook, ask_question
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.roles import ask_exception
from basanite.testing import SetClock, season, small_campaign_text, small_office, small_pack

AGREEMENTS = "".join(
    f'[[agreements]]\nid = "{name}"\ntitle = "{name}"\nversion = "1"\ntext = "x"\ncounter_signed = {counter}\n\n'
    for name, counter in (("data", "true"), ("speech", "false"))
)
MILESTONE = '[[milestones]]\nid = "kickoff"\ntitle = "Kick-off"\nat = "2017-10-18 09:00"\nowner = "Eva"\n'


READING = """
[[windows]]
id = "reading"
opens = "2018-01-01 00:00"
closes = "2018-03-31 24:00"
tasks = ["reading"]
dataset = ["DEV"]
quota = { count = 2, period = "total" }
feedback = "none"
kind = "development"

"""


def text() -> str:
    """The campaign's file: late runs are taken, and the pack EVAL1 has a key that is out."""
    plain = small_campaign_text(quota=9, more=MILESTONE + AGREEMENTS + READING)
    late = plain.replace('certification = "7 days"', 'certification = "7 days"\nlate_grace = "2 days"')
    return late.replace('id = "EVAL1"\n', 'id = "EVAL1"\nkey_at = "2018-04-02 00:00"\n', 1)


def build(folder) -> None:
    """Make `season/`, `campaign.toml`, `exported.tgz` and a key in a folder."""
    pack, clock = small_pack(folder / "pack"), SetClock()
    office = small_office(folder, clock)
    stage = Stage(office, season(office, text()), clock, pack)
    for dataset in ("DEV", "EVAL1"):
        stage.add_reference(dataset)
    _fill(stage)
    fill_panels(stage, folder)
    fill_reading(stage, folder)
    fill_annotation(stage, folder)
    export_campaign(office, stage.season.campaign_id, folder / "exported.tgz")
    office.close()
    (folder / "data").rename(folder / "season")
    (folder / "data-vault").rename(folder / "season-vault")
    (folder / "signed.pdf").write_bytes(b"%PDF-1.7 signed")
    (folder / "signed.csv").write_text("team,agreement,decision\nAlpha,data,accept\n", encoding="utf-8")
    (folder / "people.csv").write_text("mail,name,team\nzora@people.example,Zora,Zeta\n", encoding="utf-8")
    (folder / "campaign.toml").write_text(text(), encoding="utf-8")
    shutil.copytree(pack.key, folder / "key")


def _fill(stage: Stage) -> None:
    season_, clock = stage.season, stage.clock
    dev = stage.submit("alpha", "perfect", label="dev", kind="contrastive")
    clock.set("2018-04-03 12:00")
    stage.submit("beta", "silent")
    clock.set("2018-04-09 05:00")
    stage.submit("beta", "perfect", label="late", kind="contrastive")
    clock.set("2018-03-01 12:00")
    stage.submit("beta", "silent", label="dev", kind="contrastive")
    clock.set("2018-04-12 12:00")
    campaign, eva = season_.campaign_id, season_.as_eva
    stage.do(releases.release, eva, campaign, releases.LevelRelease("week", "certification"))
    stage.do(
        appeals.open_appeal,
        season_.as_bea,
        campaign,
        appeals.Objection("week", "the key is wrong", submission_id=_first(stage)),
    )
    second = stage.add_reference("DEV", reason="two labels were wrong")
    batch = stage.do(rescoring.preview, eva, second, reason="two labels were wrong")
    stage.score_batch(batch.id)
    clock.forward(hours=1)
    stage.add_reference("EVAL1", reason="one label was wrong")
    stage.do(approvals.ask_to_void, Actor(season_.eva), campaign, dev, reason="it was copied")
    with stage.office.writing() as session:
        add_person(session, stage.office, Newcomer(name="Kim", mail="kim@people.example"))
        add_webhook(session, stage.office, eva, campaign, url="https://example.org/hook", kinds=["results_released"])
        _fill_terms(session, stage)
        plan = plans.current(session, campaign)
        add_file(session, stage.office, eva, campaign, find_pack(plan.campaign, "EVAL1"), NewFile(stage.pack.documents))


def _fill_terms(session, stage: Stage) -> None:
    """Agreements in each state, a resource that is overdue, a question, and an exception that waits."""
    office, people, copy = stage.office, stage.season, b"%PDF-1.7 signed"
    agreements.sign(session, office, people.as_ada, people.alpha, "data", copy=copy)
    agreements.sign(session, office, people.as_ada, people.alpha, "speech", copy=copy)
    ended = agreements.sign(session, office, people.as_bea, people.beta, "speech", copy=copy)
    ask_for_deletion(session, office, people.as_eva, ended.id)
    resources.declare(
        session,
        office,
        people.as_ada,
        people.alpha,
        resources.NewResource(kind="purchased", description="a dictionary"),
    )
    ask_question(session, office, people.as_bea, people.campaign_id, "May we send two archives?")
    ask_exception(session, office, people.as_eva, people.campaign_id, people.bea, reason="the only expert")


def _first(stage: Stage) -> str:
    from sqlalchemy import select

    from basanite.campaign.store.tables import Submission

    with stage.office.reading() as session:
        question = select(Submission.id).where(Submission.team_id == stage.season.beta, Submission.number == 1)
        return session.scalars(question).one()
