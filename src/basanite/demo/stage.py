"""The stage of the demo: the season's plan, its people at work at a moment, and its beginning with teams and packs."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign import duties
from basanite.campaign.actions import approvals, calendar, packs, plans, references, upkeep
from basanite.campaign.actions.references import Paths
from basanite.campaign.intake import acceptance
from basanite.campaign.jobs import comparison, stages
from basanite.campaign.model.plan import Declared
from basanite.campaign.office import COMMAND, Actor, Office
from basanite.campaign.people import agreements, communication, membership, roles, teams
from basanite.campaign.people.links import make_link
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.results import boards
from basanite.campaign.store.tables import Account, Approval, BatchItem, Reference
from basanite.demo import files
from basanite.demo.files import SetFiles, queryset
from basanite.server.accounts import registration, second_factor
from basanite.synthetic.clir import write_members
from basanite.testing.season import SetClock

LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class Part:
    """Somebody in the demo."""

    name: str
    role: str
    """What this person is, in words for anyone who reads the list of logins."""
    organises: bool = False
    signs_in: bool = True


CAST: Final[Mapping[str, Part]] = {
    "eva": Part("Eva Lindgren", "evaluation lead", organises=True),
    "oscar": Part("Oscar Adeyemi", "administrator", organises=True),
    "ada": Part("Ada Novak", "PI of team Alder"),
    "ben": Part("Ben Ortiz", "member of team Alder"),
    "bea": Part("Béatrice Moreau", "PI of team Birch"),
    "carl": Part("Carl Sørensen", "member of team Birch", signs_in=False),
    "chidi": Part("Chidi Okafor", "PI of team Cedar"),
    "dana": Part("Dana Weiss", "asks to lead a team"),
    "emil": Part("Emil Tanaka", "asks to join team Alder"),
    "judith": Part("Judith Amsel", "will become a judge", signs_in=False),
    "jana": Part("Jana Petrović", "judge; has passages to rate"),
    "aino": Part("Aino Virtanen", "adjudicator; has disagreements to decide"),
    "nora": Part("Nora Lindqvist", "annotator; has game reports to annotate"),
    "paul": Part("Paul Osei", "annotator", signs_in=False),
    "kofi": Part("Kofi Mensah", "judge", signs_in=False),
    "lena": Part("Lena Brandt", "judge", signs_in=False),
    "mika": Part("Mika Sato", "judge", signs_in=False),
    "nia": Part("Nia Haddad", "judge", signs_in=False),
    "omar": Part("Omar Rashid", "judge", signs_in=False),
}


@dataclass(frozen=True)
class Login:
    """How one of them signs in."""

    key: str
    role: str
    mail: str
    password: str
    secret: str = ""
    """The shared secret of the second factor; organisers have one."""

    def as_dict(self) -> dict[str, Any]:
        """As it is kept beside the demo."""
        return asdict(self)


def mail_of(key: str) -> str:
    """The address of somebody.

    >>> mail_of("eva")
    'eva@demo.example'
    """
    return f"{key}@demo.example"


def fresh_password() -> str:
    """A password for all accounts of one demo, easy to type."""
    words = ("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(3))
    return "-".join(("demo", *words))


def make_person(session: Session, office: Office, key: str) -> str:
    """A person without a password; gives the id."""
    return add_person(session, office, Newcomer(name=CAST[key].name, mail=mail_of(key), zone="America/New_York")).id


def let_in(session: Session, office: Office, key: str, person: str, password: str) -> Login:
    """Set a password by a mailed link, as everybody does, and for organisers a second factor."""
    part = CAST[key]
    registration.reset(session, office, make_link(session, office, "reset", person_id=person).secret, password)
    secret = _with_second_factor(session, office, person) if part.organises else ""
    return Login(key, part.role, mail_of(key), password, secret)


def _with_second_factor(session: Session, office: Office, person: str) -> str:
    secret = second_factor.fresh_secret()
    now = office.clock()
    code = code_at(secret, now.timestamp())
    second_factor.switch_on(session, office, session.get_one(Account, person), secret, code)
    return secret


def code_at(secret: str, seconds: float) -> str:
    """The code of a second factor at a moment, as an authenticator shows it."""
    import pyotp

    return pyotp.TOTP(secret).generate_otp(int(seconds) // second_factor.STEP)


SLUG: Final = "demo"
FILE: Final = Path(__file__).with_name("season.toml")
MOMENT: Final = re.compile(r'"D([+-]\d+) (\d\d:\d\d)"')


def date_moments(text: str, day: date) -> str:
    """The text with every counted moment written as a date.

    >>> date_moments('opens = "D-1 00:00"', date(2026, 3, 1))
    'opens = "2026-02-28 00:00"'
    """
    return MOMENT.sub(lambda found: f'"{day + timedelta(days=int(found[1]))} {found[2]}"', text)


Given = ParamSpec("Given")
Done = TypeVar("Done")
Say = Callable[[str], None]
SIDE_BY_SIDE: Final = 2
"""Children that score at the same time."""


@dataclass
class Stage:
    """Everything that a scene needs: who is who by name, and where the files of the data sets lie."""

    office: Office
    clock: SetClock
    now: datetime
    """The moment at which the demo is made, and up to which the season is played."""
    files: Path
    """A folder for what is handed in; it is gone when the season stands."""
    say: Say
    campaign_id: str = ""
    people: dict[str, str] = field(default_factory=dict)
    teams: dict[str, str] = field(default_factory=dict)
    sets: dict[str, SetFiles] = field(default_factory=dict)

    def days_ago(self, days: float) -> None:
        """Let time pass until so many days before now; on the way workers do what falls due."""
        then = self.now - timedelta(days=days)
        for moment in self._moments(then) if self.campaign_id else ():
            self.clock.set(moment + timedelta(minutes=1))
            upkeep.freeze(self.office)
            duties.publish_keys(self.office)
        self.clock.set(then)

    def _moments(self, then: datetime) -> list[datetime]:
        """When windows open and keys of packs come out between the clock's time and another."""
        with self.office.reading() as session:
            campaign = plans.current(session, self.campaign_id).campaign
        opened = [window.opens.utc for window in campaign.windows]
        keys = [pack.key_at.utc for pack in campaign.packs if pack.key_at]
        return sorted({one for one in (*opened, *keys) if self.clock() < one < then - timedelta(minutes=1)})

    def actor(self, who: str) -> Actor:
        """Somebody, acting."""
        return Actor(self.people[who])

    def do(
        self, act: Callable[Concatenate[Session, Office, Given], Done], *given: Given.args, **named: Given.kwargs
    ) -> Done:
        """Do an act in a transaction of its own."""
        with self.office.writing() as session:
            return act(session, self.office, *given, **named)

    def agree(self, asked: Approval) -> Approval:
        """The second of two people agrees to what the first asked for."""
        return self.do(approvals.agree, self.actor("oscar"), asked.id)

    def submit(self, who: str, team: str, dataset: str, path: Path, task: str = "CLIR", **declared: Any) -> str:
        """Hand a file in; gives the submission's id."""
        said = Declared(task, language="1A", dataset=(dataset,), queryset=queryset(task, dataset), **declared)
        stored = self.office.files.take(path)
        return self.do(acceptance.accept, self.actor(who), acceptance.Arrival(self.teams[team], said, stored)).id

    def score(self, submissions: Iterable[str]) -> None:
        """Validate and score, as a worker does."""
        self._side_by_side(self._score_one, submissions)

    def _score_one(self, submission_id: str) -> str:
        verdict = stages.validate(self.office, submission_id)
        if verdict["state"] != "scoring":
            return str(verdict["state"])
        return stages.score(self.office, submission_id, verdict["result"])

    def score_batch(self, batch_id: str) -> None:
        """Do the jobs of a re-scoring."""
        with self.office.reading() as session:
            items = list(session.scalars(select(BatchItem.id).where(BatchItem.batch_id == batch_id)))
        self._side_by_side(lambda item: comparison.score_item(self.office, item), items)

    def compare(self) -> None:
        """Make the comparisons that released boards wait for."""
        with self.office.reading() as session:
            due = list(boards.orders_due(session, self.office))
        for order in due:
            comparison.compare(self.office, **asdict(order))

    def add_key(self, dataset: str, paths: references.Paths, *, reason: str, task: str = "CLIR") -> Reference:
        """Add a version of the truth: taken in, checked in a child, held until a second person agrees."""
        material = references.take_in(self.office, paths)
        place = references.Place(task, dataset, "1A", queryset(task, dataset))
        with self.office.reading() as session:
            campaign = plans.current(session, self.campaign_id).campaign
        sealed = campaign.pack(dataset).sealed
        references.check_files(self.office, campaign, place, material, sealed=sealed)
        new = references.NewVersion(place, material, reason=reason, sealed=sealed, hold=True)
        return self.do(references.add, self.actor("eva"), self.campaign_id, new)

    def key_of(self, dataset: str, key: Path | None = None) -> references.Paths:
        """The files of a data set's reference, perhaps with another key."""
        made = self.sets[dataset]
        return references.Paths((key or made.key,), metadata=made.metadata)

    def _side_by_side(self, work: Callable[[str], object], ids: Iterable[str]) -> None:
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            for done in [pool.submit(work, one) for one in ids]:
                done.result()


TEAMS: Final = {"Alder": ("ada", "ben"), "Birch": ("bea", "carl"), "Cedar": ("chidi",)}
"""Teams with their people, the PI first."""
SIGNED: Final = b"%PDF-1.4\n% a signed copy, made up for the demo\n%%EOF\n"


def open_season(stage: Stage, password: str) -> list[Login]:
    """Everything up to the first day of development; gives how people sign in."""
    stage.days_ago(75)
    text = date_moments(FILE.read_text(encoding="utf-8"), stage.now.date())
    stage.campaign_id = stage.do(plans.add_campaign, COMMAND, text).id
    stage.people = {key: stage.do(make_person, key) for key in CAST}
    known = [key for key, part in CAST.items() if part.signs_in]
    logins = [stage.do(let_in, key, stage.people[key], password) for key in known]
    _appoint(stage)
    _announce_kick_off(stage)
    for name in TEAMS:
        _found_team(stage, name)
    return logins


def _appoint(stage: Stage) -> None:
    """The machine's command line makes the first organisers; from then on roles take two people (X-4)."""
    eva, oscar = stage.people["eva"], stage.people["oscar"]
    lead = {"person_id": eva, "role": "evaluation", "campaign_id": stage.campaign_id}
    stage.do(roles.grant, COMMAND, roles.RoleGrant(**lead, reason="leads the evaluation"))
    stage.do(roles.grant, COMMAND, roles.RoleGrant(person_id=oscar, role="administrator", reason="runs the server"))


def _announce_kick_off(stage: Stage) -> None:
    stage.days_ago(74)
    text = "Sign the data agreement, accept the rules, and download the development data. It includes the reference."
    stage.do(
        communication.announce,
        stage.actor("eva"),
        stage.campaign_id,
        communication.Letter(title="The campaign has started", text=text),
    )
    stage.do(
        calendar.set_milestone_state,
        stage.actor("eva"),
        stage.campaign_id,
        calendar.MilestoneUpdate("kick-off", "done", "all teams attended"),
    )


def _found_team(stage: Stage, name: str) -> None:
    """A PI asks, an organiser grants, the team is made; it signs, and its people accept the rules."""
    pi, *others = TEAMS[name]
    stage.clock.forward(minutes=20)
    asked = stage.do(teams.ask_to_lead, stage.actor(pi), stage.campaign_id, text=f"We want to take part as {name}.")
    stage.do(teams.decide_lead, stage.actor("eva"), asked.id, accept=True, reason="welcome")
    stage.teams[name] = stage.do(teams.create_team, stage.actor(pi), stage.campaign_id, teams.NewTeam(name=name)).id
    for member in others:
        wish = stage.do(membership.ask_to_join, stage.actor(member), stage.teams[name])
        stage.do(membership.decide_join, stage.actor(pi), wish.id, accept=True)
    signed = stage.do(agreements.sign, stage.actor(pi), stage.teams[name], "data", copy=SIGNED)
    stage.do(agreements.counter_sign, stage.actor("eva"), signed.id)
    for member in TEAMS[name]:
        stage.do(agreements.accept_rules, stage.actor(member), stage.campaign_id, "usage", "1")


def give_out(stage: Stage, dataset: str) -> None:
    """Write a data set, and put its files into its pack: encrypted where its key comes later (M89)."""
    made = stage.sets[dataset] = files.write_set(dataset, stage.files / dataset)
    with stage.office.reading() as session:
        pack = plans.current(session, stage.campaign_id).campaign.pack(dataset)
    listed = [made.documents, made.queries]
    if not pack.sealed:
        archive = stage.files / "key.tgz"
        write_members(((path.name, path.read_bytes()) for path in sorted(made.key.iterdir())), archive)
        listed += [archive, *made.metadata]
    for path in listed:
        name = f"factors-{path.name}" if path.parent.name == "metadata" else path.name
        stage.do(packs.add_file, stage.actor("eva"), stage.campaign_id, pack, packs.NewFile(path, name))


def fill_pack(stage: Stage, dataset: str, name: str, members: Iterable[tuple[str, bytes]]) -> None:
    """Put one archive with these files into a pack."""
    archive = stage.files / name
    write_members(members, archive)
    with stage.office.reading() as session:
        pack = plans.current(session, stage.campaign_id).campaign.pack(dataset)
    stage.do(packs.add_file, stage.actor("eva"), stage.campaign_id, pack, packs.NewFile(archive, name))


def fetch(stage: Stage, who: str, dataset: str) -> None:
    """Somebody downloads the files of a pack, which is recorded."""
    with stage.office.writing() as session:
        plan = plans.current(session, stage.campaign_id)
        seen, here = roles.viewer(session, stage.campaign_id, stage.people[who]), (plan.row, plan.campaign)
        for listed in packs.list_files(session, stage.campaign_id, plan.campaign):
            if listed.pack == dataset:
                packs.hand_out(session, stage.office, stage.actor(who), seen, here, listed.id)


def open_task(stage: Stage, dataset: str, paths: Paths | None = None, *, task: str = "CLIR") -> None:
    """Add the key of a data set; two people open the task with it."""
    given = paths or stage.key_of(dataset)
    reference = stage.add_key(dataset, given, reason="the first version", task=task)
    eva = stage.actor("eva")
    stage.agree(stage.do(approvals.ask_to_open, eva, stage.campaign_id, reference.id))
