"""The season begins: organisers, teams, agreements, rules, data sets with their packs, and the first keys."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from basanite.campaign.office import COMMAND
from basanite.campaign.organising import milestones, plans, seconding
from basanite.campaign.organising.reference_files import Paths
from basanite.campaign.packs import downloading, files
from basanite.campaign.people import roles
from basanite.campaign.people.saying import announcements
from basanite.campaign.people.teams import joining, making
from basanite.campaign.people.terms import agreements, rules
from basanite.demo import cast, plan, runs
from basanite.demo.stage import Stage
from basanite.synthetic.clir import write_members

TEAMS: Final = {"Alder": ("ada", "ben"), "Birch": ("bea", "carl"), "Cedar": ("chidi",)}
"""Teams with their people, the PI first."""
SIGNED: Final = b"%PDF-1.4\n% a signed copy, made up for the demo\n%%EOF\n"


def open_season(stage: Stage, password: str) -> list[cast.Login]:
    """Everything up to the first day of development; gives how people sign in."""
    stage.days_ago(75)
    text = plan.campaign_text(stage.now.date())
    stage.campaign_id = stage.do(plans.add_campaign, COMMAND, text).id
    stage.people = {key: stage.do(cast.make_person, key) for key in cast.CAST}
    known = [key for key, part in cast.CAST.items() if part.signs_in]
    logins = [stage.do(cast.let_in, key, stage.people[key], password) for key in known]
    _appoint(stage)
    _announce_kick_off(stage)
    for name in TEAMS:
        _found(stage, name)
    return logins


def _appoint(stage: Stage) -> None:
    """The machine's command line makes the first organisers; from then on roles take two people (X-4)."""
    eva, oscar = stage.people["eva"], stage.people["oscar"]
    lead = {"person_id": eva, "role": "evaluation", "campaign_id": stage.campaign_id}
    stage.do(roles.grant, COMMAND, **lead, reason="leads the evaluation")
    stage.do(roles.grant, COMMAND, person_id=oscar, role="administrator", reason="runs the server")


def _announce_kick_off(stage: Stage) -> None:
    stage.days_ago(74)
    text = "Sign the data agreement, accept the rules, and fetch the development data. Its key is in the pack."
    stage.do(announcements.announce, stage.actor("eva"), stage.campaign_id, title="The season has begun", text=text)
    stage.do(milestones.set_state, stage.actor("eva"), stage.campaign_id, "kick-off", "done", "all teams were there")


def _found(stage: Stage, name: str) -> None:
    """A PI asks, an organiser grants, the team is made; it signs, and its people accept the rules."""
    pi, *others = TEAMS[name]
    stage.clock.forward(minutes=20)
    asked = stage.do(making.ask_to_lead, stage.actor(pi), stage.campaign_id, text=f"We want to take part as {name}.")
    stage.do(making.decide_lead, stage.actor("eva"), asked.id, accept=True, reason="welcome")
    stage.teams[name] = stage.do(making.create_team, stage.actor(pi), stage.campaign_id, name=name).id
    for member in others:
        wish = stage.do(joining.ask_to_join, stage.actor(member), stage.teams[name])
        stage.do(joining.decide_join, stage.actor(pi), wish.id, accept=True)
    signed = stage.do(agreements.sign, stage.actor(pi), stage.teams[name], "data", copy=SIGNED)
    stage.do(agreements.counter_sign, stage.actor("eva"), signed.id)
    for member in TEAMS[name]:
        stage.do(rules.accept_rules, stage.actor(member), stage.campaign_id, "usage", "1")


def give_out(stage: Stage, dataset: str) -> None:
    """Write a data set, and put its files into its pack: encrypted where its key comes later (M89)."""
    made = stage.sets[dataset] = runs.write_set(dataset, stage.files / dataset)
    with stage.office.reading() as session:
        pack = plans.current(session, stage.campaign_id).campaign.pack(dataset)
    listed = [made.documents, made.queries]
    if not pack.sealed:
        archive = stage.files / "key.tgz"
        write_members(((path.name, path.read_bytes()) for path in sorted(made.key.iterdir())), archive)
        listed += [archive, *made.metadata]
    for path in listed:
        stage.do(files.add_file, stage.actor("eva"), stage.campaign_id, pack, path, _name_in_pack(path))


def fill_pack(stage: Stage, dataset: str, name: str, members: Iterable[tuple[str, bytes]]) -> None:
    """Put one archive with these files into a pack."""
    archive = stage.files / name
    write_members(members, archive)
    with stage.office.reading() as session:
        pack = plans.current(session, stage.campaign_id).campaign.pack(dataset)
    stage.do(files.add_file, stage.actor("eva"), stage.campaign_id, pack, archive, name)


def _name_in_pack(path: Path) -> str:
    return f"factors-{path.name}" if path.parent.name == "metadata" else path.name


def fetch(stage: Stage, who: str, dataset: str) -> None:
    """Somebody downloads the files of a pack, which is recorded."""
    with stage.office.writing() as session:
        campaign = plans.current(session, stage.campaign_id).campaign
        seen = roles.viewer(session, stage.campaign_id, stage.people[who])
        for listed in files.list_files(session, stage.campaign_id, campaign):
            if listed.pack == dataset:
                given = (stage.actor(who), seen, stage.campaign_id, campaign, listed.id)
                downloading.hand_out(session, stage.office, *given)


def open_task(stage: Stage, dataset: str, paths: Paths | None = None, *, task: str = "CLIR") -> None:
    """Add the key of a data set; two people open the task with it."""
    given = paths or stage.key_of(dataset)
    reference = stage.add_key(dataset, given, reason="the first version", task=task)
    eva = stage.actor("eva")
    stage.agreed(stage.do(seconding.ask_to_open, eva, stage.campaign_id, reference.id))
