"""Every mail leads its addressee to the page of the thing it speaks of, and calls things by their titles (D-9)."""

from __future__ import annotations

import email
import re
from email import policy
from html import unescape

import pytest
from starlette.testclient import TestClient
from tests.campaign.work.panels.conftest import passages, verdict_scheme
from tests.server.accounts.conftest import PASSWORD, Browser
from tests.server.pages.organiser.conftest import MORE

from basanite.campaign.actions import appeals, approvals, plans, releases, rescoring
from basanite.campaign.actions.registry import At, every_action
from basanite.campaign.intake import charges, standings
from basanite.campaign.jobs import stages
from basanite.campaign.notices.messages import catalogue
from basanite.campaign.notices.outbox import send_due
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people import agreements, communication, membership, resources, roles
from basanite.campaign.people import teams as teams_new
from basanite.campaign.people.persons import Newcomer, add_person, by_mail
from basanite.campaign.store.tables import Message, Submission
from basanite.campaign.work.panels import enrolment as seats
from basanite.campaign.work.panels import setup
from basanite.server.accounts import sessions

HOST = "http://127.0.0.1:8410"
LINK = re.compile(r"https?://\S+")
CAMPAIGN, WEEK, DEV = "A small season", "Evaluation week", "Development on DEV"
TEAM, RUN = re.compile(r"[Tt]he team (\w+)"), re.compile(r'"(.+?)"')
TITLED = re.compile('"(Data agreement)"')
TITLES = {
    "confirm": "Confirm",
    "account_exists": "Sign in",
    "reset": "new password",
    "password_changed": "Your account",
    "role_granted": CAMPAIGN,
    "administrator_granted": "Second factor",
    "lead_asked": re.compile(r"(\w+) asks to lead"),
    "lead_granted": CAMPAIGN,
    "lead_refused": CAMPAIGN,
    "team_created": TEAM,
    "teams_imported": CAMPAIGN,
    "team_ready": re.compile(r"Your team (\w+)"),
    "join_asked": re.compile(r"your team (\w+)"),
    "join_approved": TEAM,
    "join_refused": CAMPAIGN,
    "invited": TEAM,
    "handed_over": TEAM,
    "member_left": CAMPAIGN,
    "team_merged": re.compile(r"merged into the team (\w+)"),
    "team_split": CAMPAIGN,
    "submission_valid": RUN,
    "submission_invalid": RUN,
    "submission_failed": RUN,
    "result_there": RUN,
    "standing_changed": RUN,
    "primary_missing": WEEK,
    "results_released": WEEK,
    "results_to_certify": WEEK,
    "results_changed": DEV,
    "certified": TEAM,
    "appeal_made": "the key of query 2 is wrong",
    "appeal_decided": "the key is right",
    "quota_low": DEV,
    "quota_extra": DEV,
    "window_extended": DEV,
    "approval_asked": "CopiedRun",
    "exception_asked": "the only reader of Swahili",
    "agreement_uploaded": TITLED,
    "agreement_executed": TITLED,
    "agreement_refused": TITLED,
    "deletion_asked": TITLED,
    "deletion_overdue": TITLED,
    "resource_due": "a purchased dictionary",
    "announced": "The server rests on Sunday",
    "question_asked": "May we submit twice?",
    "question_answered": "Yes, three times a week.",
    "to_role": CAMPAIGN,
    "judging_assigned": re.compile(r'the panel "(.+?)"'),
}
"""For each kind of mail what its page must show: the name of the thing, where possible as the mail itself gives it."""
ANCHOR = re.compile(r"#([\w-]+)$")
INTERNAL = re.compile(
    r"\bsmall\b(?! season)|\bdev\b|(?<!Evaluation )(?<!a )\bweek\b|[0-9a-f]{20}|`|(?<!-)--\w|\bevaluation\b"
)
"""Ids of the campaign, its windows and its rows, and what only a command line understands."""
NO_CAMPAIGN = (
    "confirm",
    "reset",
    "account_exists",
    "password_changed",
    "administrator_granted",
    "invited",
)
IN_CAMPAIGN = frozenset(TITLES) - set(NO_CAMPAIGN)


class Post:
    """Delivers what waits, and follows the links of each new mail as the person to whom it went."""

    def __init__(self, app, stage):
        self.app, self.stage, self.office = app, stage, stage.office
        self.seen, self.kinds, self.links = set(), set(), 0

    def deliver(self, *wanted):
        """Send and read every mail that waits, and those that reading causes; `wanted` must be among them."""
        kinds = set()
        while fresh := self.fresh():
            self.seen |= set(fresh)
            kinds |= {self.read(path) for path in fresh}
        assert set(wanted) <= kinds, (wanted, kinds)
        self.kinds |= kinds

    def fresh(self):
        assert send_due(self.office, most=1000).failed == 0
        return sorted(set((self.office.settings.data / "outbox").glob("*.eml")) - self.seen)

    def read(self, path):
        """Read one mail as its addressee does; gives its kind."""
        mail = email.message_from_bytes(path.read_bytes(), policy=policy.default)
        with self.office.reading() as session:
            kind = session.get_one(Message, path.stem).template
            person = by_mail(session, self.office, mail["To"]).id
        text = mail.get_content().replace("\r\n", "\n")
        words = f"{mail['Subject']}\n{LINK.sub('', text)}"
        assert not INTERNAL.search(words), (kind, words)
        links = LINK.findall(text)
        if "You have no password yet" in text:
            self.choose_password(links.pop())
        assert links, (kind, text)
        for link in links:
            assert link.startswith(f"{HOST}/campaigns/small" if kind in IN_CAMPAIGN else f"{HOST}/"), (kind, link)
            assert link.rstrip("/") != HOST, (kind, link)
        self.links += len(links)
        title = TITLES[kind] if isinstance(TITLES[kind], str) else TITLES[kind].search(text)[1]
        self.follow(kind, self.browser(kind, person, mail["To"]), [link.removeprefix(HOST) for link in links], title)
        return kind

    def follow(self, kind, browser, paths, title):
        """The first link shows the thing, and every other one is there for this reader, too."""
        for number, path in enumerate(paths):
            answer = browser.get(path)
            assert answer.status_code == 200, (kind, path, answer.status_code, answer.text[:300])
            shown = re.sub("[\u2068\u2069]", "", unescape(answer.text))
            assert number or title in shown, (kind, path, title)
            anchor = ANCHOR.search(path)
            assert anchor is None or f'id="{anchor[1]}"' in shown, (kind, path)

    def choose_password(self, link):
        """What somebody does first who has never signed in."""
        browser = Browser(TestClient(self.app))
        form = browser.get(link.removeprefix(HOST))
        assert form.status_code == 200, link
        if form.url.path != "/sign-in":  # where it leads once a password was chosen by the link of another mail
            assert browser.send(form.url.path, password=PASSWORD).url.path == "/sign-in"

    def browser(self, kind, person, address):
        """The addressee's browser: signed in with a password, organisers with a second factor (X-11)."""
        browser = Browser(TestClient(self.app))
        if kind in ("confirm", "reset", "account_exists"):
            return browser
        if person in (self.stage.season.eva, self.stage.season.otto):
            with self.office.writing() as session:
                cookie = sessions.start(session, self.office, person, strong=True)
            browser.client.cookies.set(sessions.cookie_name(self.office), cookie)
        else:
            assert browser.sign_in(address).url.path == "/", (kind, address)
        return browser

    def person(self, name, **more):
        """The id of somebody with an address, added if need be."""
        with self.office.writing() as session:
            mail = f"{name.lower()}@example.org"
            known = by_mail(session, self.office, mail)
            return (known or add_person(session, self.office, Newcomer(name=name, mail=mail))).id


@pytest.fixture
def campaign():
    return {"more": MORE.replace('[[tracks]]\nid = "open"\ntitle = "Open"\n', ""), "two_people": ("void",)}


@pytest.fixture
def post(app, stage):
    made = Post(app, stage)
    stage.office.remember_address(HOST)
    return made


def test_every_kind_of_mail_has_a_page_to_check():
    assert set(TITLES) == set(catalogue())


@pytest.mark.slow
@pytest.mark.req("D-9")
@pytest.mark.timeout(600)
def test_every_link_of_every_kind_of_mail_leads_its_addressee_to_the_thing(post, stage):
    post.deliver("team_created", "team_ready", "join_approved")
    for chapter in (accounts, teams, runs, words, duties, week, results):
        chapter(post, stage, stage.season.campaign_id)
    assert post.kinds == set(catalogue())
    assert post.links > len(catalogue())


def accounts(post, stage, campaign_id):
    """Somebody creates an account, forgets it and the password; others get roles without asking."""
    browser = Browser(TestClient(post.app))
    fields = {"name": "Nina", "mail": "nina@example.org", "password": PASSWORD}
    browser.send("/sign-up", **fields)
    post.deliver("confirm")
    confirming = link_of(post, "confirm")
    browser.send(browser.get(confirming).url.path)
    browser.send("/sign-up", **fields)
    browser.send("/forgotten", mail="nina@example.org")
    post.deliver("account_exists", "reset")
    browser.send(browser.get(link_of(post, "reset")).url.path, password=PASSWORD)
    post.deliver("password_changed")
    kim, ann = post.person("Kim"), post.person("Ann")
    for role in ("judge", "annotator", "adjudicator"):
        stage.do(roles.grant, COMMAND, roles.RoleGrant(person_id=kim, role=role, campaign_id=campaign_id))
        post.deliver("role_granted")
    stage.do(roles.grant, COMMAND, roles.RoleGrant(person_id=ann, role="administrator"))
    post.deliver("administrator_granted")


def import_people(session, office, actor):
    """A team from a table."""
    found = every_action()["people import"]
    given = found.parse({"text": "mail,name,team\nzora@example.org,Zora,Zeta\n", "apply": True})
    found.run(At(office, session, actor, "small"), given)


def teams(post, stage, campaign_id):
    """A team begins, grows, is handed over, merged and split."""
    nina, omar, eva = Actor(post.person("Nina")), Actor(post.person("Omar")), stage.season.as_eva
    stage.do(import_people, eva)
    post.deliver("team_ready", "teams_imported")
    request = stage.do(teams_new.ask_to_lead, nina, campaign_id)
    post.deliver("lead_asked")
    stage.do(teams_new.decide_lead, eva, request.id, accept=False, reason="not yet")
    post.deliver("lead_refused")
    request = stage.do(teams_new.ask_to_lead, nina, campaign_id)
    post.deliver("lead_asked")
    stage.do(teams_new.decide_lead, eva, request.id, accept=True)
    post.deliver("lead_granted")
    gamma = stage.do(teams_new.create_team, nina, campaign_id, teams_new.NewTeam(name="Gamma")).id
    stage.do(teams_new.grant_team_maker, eva, campaign_id, omar.id)
    post.deliver("team_ready", "team_created", "lead_granted")
    for accept in (False, True):
        asked = stage.do(membership.ask_to_join, omar, gamma)
        post.deliver("join_asked")
        stage.do(membership.decide_join, nina, asked.id, accept=accept)
        post.deliver("join_approved" if accept else "join_refused")
    stage.do(membership.invite, nina, gamma, mail="pat@example.org")
    post.deliver("invited")
    pat = Actor(post.person("Pat"))
    stage.do(membership.place_member, eva, gamma, pat.id)
    stage.do(membership.hand_over, nina, gamma, to=omar.id)
    post.deliver("handed_over")
    stage.do(membership.leave, pat, gamma)
    post.deliver("member_left")
    stage.do(membership.merge, eva, gamma, into=stage.season.beta)
    post.deliver("team_merged")
    stage.do(membership.split, eva, stage.season.beta, membership.Split(name="Delta", pi=nina.id))
    post.deliver("team_split")


def runs(post, stage, campaign_id):
    """Runs are valid, invalid, failed by our fault, disqualified; attempts run out and are added."""
    eva, otto = stage.season.as_eva, Actor(stage.season.otto)
    stage.submit(label="FirstRun")
    post.deliver("submission_valid", "result_there")
    stage.submit(file="invalid", label="BrokenRun")
    post.deliver("submission_invalid")
    copied = stage.submit(file="silent", label="CopiedRun")
    post.deliver("quota_low")
    stage.do(charges.give_extra, eva, stage.season.alpha, charges.Attempts("dev", 2, reason="our disk was slow"))
    post.deliver("quota_extra")
    asked = stage.do(approvals.ask_to_void, eva, campaign_id, copied, reason="it was copied")
    post.deliver("approval_asked")
    stage.do(approvals.agree, otto, asked.id)
    post.deliver("standing_changed")
    failed = stage.submit(file="silent", label="FailedRun")
    with stage.office.writing() as session:
        stages.fail(session, stage.office, session.get_one(Submission, failed), "a disk was full")
    post.deliver("submission_failed")


def words(post, stage, campaign_id):
    """Organisers announce, answer and write; a window is extended; an exception is asked for."""
    eva, ada = stage.season.as_eva, stage.season.as_ada
    stage.do(
        communication.announce,
        eva,
        campaign_id,
        communication.Letter(title="The server rests on Sunday", text="From nine to ten."),
    )
    asked = stage.do(communication.ask_question, ada, campaign_id, "May we submit twice?")
    post.deliver("announced", "question_asked")
    stage.do(communication.answer_question, eva, asked.id, "Yes, three times a week.")
    wanted = {"audience": "pis", "title": "Your reports", "text": "Please send them by Friday."}
    key = stage.do(communication.preview_mail, eva, campaign_id, communication.Letter(**wanted)).key
    stage.do(communication.send_mail, eva, campaign_id, communication.Letter(**wanted), key=key)
    stage.do(plans.extend_window, eva, "small", plans.Extension("dev", "2018-04-01 24:00", reason="a holiday"))
    reason = "the only reader of Swahili"
    stage.do(roles.ask_exception, eva, campaign_id, stage.season.alan, reason=reason)
    post.deliver("question_answered", "to_role", "window_extended", "exception_asked")


def duties(post, stage, campaign_id):
    """Agreements are signed, refused, executed and end; a resource is to be shared; a panel opens."""
    eva, ada, alpha = stage.season.as_eva, stage.season.as_ada, stage.season.alpha
    for accept in (False, True):
        signed = stage.do(agreements.sign, ada, alpha, "data", copy=b"%PDF-1.7 signed")
        post.deliver("agreement_uploaded")
        if accept:
            stage.do(agreements.counter_sign, eva, signed.id)
        else:
            stage.do(agreements.refuse_signature, eva, signed.id, reason="page 2 is missing")
        post.deliver("agreement_executed" if accept else "agreement_refused")
    stage.do(agreements.ask_for_deletion, eva, signed.id)
    stage.do(
        resources.declare, ada, alpha, resources.NewResource(kind="purchased", description="a purchased dictionary")
    )
    stage.do(resources.remind_of_resources, campaign_id)
    panel = stage.do(setup.create, eva, campaign_id, setup.NewPanel(verdict_scheme(), name="first"))
    stage.do(setup.add_items, eva, panel.id, passages(4))
    for judge in ("Lea", "Max"):
        stage.do(seats.enrol, eva, panel.id, post.person(judge))
    stage.do(setup.open_panel, eva, panel.id)
    post.deliver("deletion_asked", "resource_due", "judging_assigned")
    stage.clock.forward(days=40)
    stage.do(agreements.look_after_agreements, campaign_id)
    post.deliver("deletion_overdue")


def week(post, stage, campaign_id):
    """A blind week nears its end, and a team has no primary run."""
    stage.clock.set("2018-04-06 12:00")
    run = stage.submit(label="WeekRun", kind="contrastive")
    assert stage.do(standings.remind_of_primaries, campaign_id) == 0
    stage.clock.set("2018-04-08 12:00")
    assert stage.do(standings.remind_of_primaries, campaign_id) == 2
    assert stage.do(standings.remind_of_primaries, campaign_id) == 0
    post.deliver("primary_missing")
    stage.do(standings.choose_primary, stage.season.as_ada, run)
    assert stage.do(standings.remind_of_primaries, campaign_id) == 0


def results(post, stage, campaign_id):
    """Results are certified, appealed against, released and scored again."""
    eva, ada = stage.season.as_eva, stage.season.as_ada
    stage.clock.set("2018-04-10 12:00")
    stage.do(releases.release, eva, campaign_id, releases.LevelRelease("week", "certification"))
    post.deliver("results_to_certify")
    stage.do(appeals.certify, ada, campaign_id, "week")
    appeal = stage.do(appeals.open_appeal, ada, campaign_id, appeals.Objection("week", "the key of query 2 is wrong"))
    post.deliver("certified", "appeal_made")
    stage.do(appeals.decide_appeal, eva, appeal.id, appeals.Decision(upheld=False, reason="the key is right"))
    post.deliver("appeal_decided")
    stage.clock.forward(days=8)
    stage.do(releases.release, eva, campaign_id, releases.LevelRelease("week", "top"))
    post.deliver("results_released")
    reference = stage.add_reference("DEV", stage.pack.key, reason="a new copy")
    batch = stage.do(rescoring.preview, eva, reference, reason="mislabelled")
    stage.score_batch(batch.id)
    stage.do(rescoring.apply, eva, batch.id)
    post.deliver("results_changed")


def link_of(post, kind):
    """The one-time link in the newest mail of a kind."""
    with post.office.reading() as session:
        newest = session.query(Message).filter_by(template=kind).order_by(Message.made.desc()).first().id
    mail = email.message_from_bytes(
        (post.office.settings.data / "outbox" / f"{newest}.eml").read_bytes(), policy=policy.default
    )
    return LINK.search(mail.get_content())[0].removeprefix(HOST)
