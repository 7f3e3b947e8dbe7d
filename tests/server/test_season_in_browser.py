"""A whole season in a real browser: a newcomer's team and the evaluation team, from signing up to a verified receipt.

Nothing is done behind the pages but what other teams do: the server and its worker are real, the clock is set.
"""

from __future__ import annotations

import json
import re
import tarfile

import pyotp
import pytest
from click.testing import CliRunner
from tests.server.accounts.conftest import PASSWORD, link_in_mail
from tests.server.live import live
from tests.server.pages.conftest import give_passwords

from basanite.campaign.actions import references
from basanite.campaign.intake import acceptance
from basanite.campaign.model.plan import Declared
from basanite.campaign.office import Actor
from basanite.campaign.settings import Accounts, Limits
from basanite.campaign.store.tables import Team
from basanite.cli import app
from basanite.testing import season, small_campaign_text, small_office

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
HOME, DESK = "/campaigns/small", "/campaigns/small/organise"
CHEAP = Accounts(time_cost=1, memory_kib=64, lanes=1, tries="1000/minute", session_hours=20_000, idle_minutes=1_000_000)
AGREEMENT = """
[[agreements]]
id = "data"
title = "Data agreement"
version = "1"
text = "Keep the data to yourselves."
"""


class Person:
    """Somebody with a browser of their own."""

    def __init__(self, stage, context, mail):
        self.stage, self.mail, self.tab = stage, mail, context.new_page()
        self.complaints = []
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, path):
        answer = self.tab.goto(self.stage.address + path)
        assert answer.status == 200, (path, answer.status, self.text)
        return self

    @property
    def text(self):
        return self.tab.inner_text("main")

    def fill(self, **fields):
        for name, value in fields.items():
            self.tab.locator(f"main [name='{name}']:visible").first.fill(value)
        return self

    def choose(self, name, value):
        self.tab.locator(f"main select[name='{name}']:visible").first.select_option(value)
        return self

    def attach(self, name, path):
        self.tab.locator(f"main input[name='{name}']:visible").first.set_input_files(path)
        return self

    def press(self, words):
        self.tab.locator("main").get_by_role("button", name=words).first.click()
        return self

    def follow(self, words):
        self.tab.locator("main").get_by_role("link", name=words).first.click()
        return self

    def unfold(self, words):
        self.tab.locator("main summary", has_text=words).first.click()
        return self

    def sees(self, words):
        self.tab.locator("main").get_by_text(words).first.wait_for()
        return self

    def download(self, words):
        with self.tab.expect_download() as coming:
            self.follow(words)
        return coming.value.path().read_bytes()

    def by_keyboard(self, words, *, most=120):
        """Reach something with the Tab key alone, and press Enter on it."""
        for _ in range(most):
            self.tab.keyboard.press("Tab")
            if self.tab.evaluate("() => document.activeElement.innerText ?? ''").strip().startswith(words):
                self.tab.keyboard.press("Enter")
                self.tab.wait_for_load_state()
                return self
        raise AssertionError(f"{words!r} is not reached by the Tab key")

    def sign_in(self):
        self.open("/sign-in").fill(mail=self.mail, password=PASSWORD).press("Sign in")
        self.tab.wait_for_url(f"{self.stage.address}/")
        return self

    def sign_up(self, name):
        """Make an account, and follow the link in the mail."""
        self.open("/sign-up").fill(name=name, mail=self.mail, password=PASSWORD).press("Create account")
        self.sees("We have sent an email")
        self.open(link_in_mail(self.stage.office, "confirm")).tab.locator("main button").first.click()
        self.tab.wait_for_load_state()
        return self.sign_in()

    def add_second_factor(self):
        secret = self.open("/account/second-factor").tab.inner_text("code.secret")
        code = pyotp.TOTP(secret.strip()).at(self.stage.clock())
        self.fill(code=code, password=PASSWORD).press("Turn on")
        return self.sees("Keep these recovery codes")


class Stage:
    """The season, and everybody's browsers."""

    def __init__(self, office, clock, pack, folder, chrome):
        self.office, self.clock, self.pack, self.folder, self.chrome = office, clock, pack, folder, chrome
        text = small_campaign_text(more=AGREEMENT).replace("sealed = false", 'sealed = false\nagreement = "data"')
        self.season = season(office, text)
        give_passwords(office, self.season)
        self.address, self.people = "", []
        for dataset in ("DEV", "EVAL1"):
            self.open_task(dataset)

    def person(self, mail):
        made = Person(self, self.chrome.new_context(accept_downloads=True), mail)
        self.people.append(made)
        return made

    def open_task(self, dataset):
        paths = references.Paths((self.pack.key,), metadata=self.pack.metadata)
        material = references.take_in(self.office, paths)
        place = references.Place("CLIR", dataset, "1A", "QUERY1")
        with self.office.writing() as session:
            references.add(
                session,
                self.office,
                self.season.as_eva,
                self.season.campaign_id,
                references.NewVersion(place, material),
            )

    def rival_submits(self):
        """What the other team does, at another door."""
        stored = self.office.files.take(self.pack.silent)
        said = Declared(task="CLIR", label="rival", type="primary", language="1A")
        with self.office.writing() as session:
            acceptance.accept(
                session, self.office, Actor(self.season.bea), acceptance.Arrival(self.season.beta, said, stored)
            )

    def mended_key(self):
        """The key with one relevant document less."""
        folder = self.folder / "fixed"
        folder.mkdir()
        done = False
        for path in sorted(self.pack.key.iterdir()):
            text = path.read_text()
            changed = text if done else re.sub(r"\tY\b", "\tN", text, count=1)
            done = done or changed != text
            (folder / path.name).write_text(changed)
        assert done
        archive = self.folder / "fixed.tgz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(folder, arcname=".")
        return archive


@pytest.fixture
def stage(tmp_path, clock, pack, chrome):
    office = small_office(tmp_path, clock, accounts=CHEAP, limits=Limits(poll_seconds=0.1, duty_seconds=1.0))
    made = Stage(office, clock, pack, tmp_path, chrome)
    with live(office, worker=True) as address:
        made.address = address
        yield made
    office.close()


@pytest.mark.slow
@pytest.mark.req("P-7", "P-34", "P-24", "P-25", "M61", "M70")
def test_a_season_is_played_in_the_browser(stage):
    eva = stage.person("eva@example.org").sign_in().add_second_factor()
    nora, olaf = a_team_is_made(stage, eva)
    data_are_opened(stage, eva, nora, olaf)
    development(stage, olaf)
    run = blind_week(stage, nora)
    results_are_certified_and_contested(stage, eva, nora)
    results_are_scored_again(stage, eva)
    results_are_released(stage, eva, nora)
    everybody_looks(stage)
    receipt_is_verified(stage, nora, run)
    assert [person.complaints for person in stage.people if person.complaints] == []


def a_team_is_made(stage, eva):
    """A newcomer asks to lead, an organiser agrees, the team is made, and a second person is let in."""
    nora = stage.person("nora@example.org").sign_up("Nora")
    nora.open(f"{HOME}/team").fill(text="We bring a new index.").press("Ask to lead a team").sees("have your request")
    eva.open(DESK).follow("1 person asks to lead a team").sees("We bring a new index.")
    eva.press("Approve").sees("They can create a team now")
    nora.open(f"{HOME}/team").fill(name="Gamma", site="Lab").press("Create team").sees("you are the PI")
    olaf = stage.person("olaf@example.org").sign_up("Olaf")
    olaf.open(f"{HOME}/team").choose("team", "Gamma").press("Request membership").sees("Its PI decides")
    nora.open(f"{HOME}/team").press("Approve").sees("new member")
    return nora, olaf


def data_are_opened(stage, eva, nora, olaf):
    """Rules are accepted, the agreement is signed by both sides, and a pack is downloaded."""
    copy = stage.folder / "signed.pdf"
    copy.write_bytes(b"%PDF-1.7 signed by Nora")
    for person in (nora, olaf):
        person.open(f"{HOME}/packs").press("I accept these rules").sees("You accepted the rules")
    nora.attach("copy", copy).press("Upload copy").sees("waiting for the organizers")
    eva.open(DESK).follow("1 agreement to countersign").sees("Gamma")
    assert eva.download("View copy") == copy.read_bytes()
    eva.press("Countersign").sees("agreement is executed")
    eva.unfold("Add a file").attach("file", stage.pack.documents).press("Add file").sees("added to the data pack")
    olaf.open(f"{HOME}/packs")
    assert olaf.download(stage.pack.documents.name) == stage.pack.documents.read_bytes()


def submit(person, path, *, label, kind="contrastive"):
    """Send a run by the form with its script, and wait for its page; gives its address."""
    named = person.stage.folder / f"{label}.tgz"
    named.write_bytes(path.read_bytes())
    person.open(f"{HOME}/submit").attach("file", named).fill(label=label)
    person.tab.locator(f"input[name='type'][value='{kind}']").check()
    person.press("Submit").tab.wait_for_selector("#refused:visible, #live")
    assert "/submissions/" in person.tab.url, person.text
    return person.tab.url.removeprefix(person.stage.address)


def development(stage, olaf):
    """A valid run gets all values; an invalid one is told line by line and costs nothing."""
    submit(olaf, stage.pack.perfect, label="first")
    olaf.sees("1.0000").sees("Breakdowns")
    submit(olaf, stage.pack.invalid, label="broken")
    olaf.sees("not valid").sees("M29")
    assert re.search(r"\.tsv:\d+", olaf.text)
    assert "2 of 3 left" in re.sub(r"\s+", " ", olaf.open(f"{HOME}/calendar").text)


def blind_week(stage, nora):
    """A primary run is accepted, and nobody sees a score."""
    stage.clock.set("2018-04-03 12:00")
    run = submit(nora, stage.pack.perfect, label="final", kind="primary")
    nora.sees("Scores are hidden")
    assert "1.0000" not in nora.text
    assert "aqwv" not in nora.text.lower()
    stage.rival_submits()
    assert "The window is still open" in nora.open(f"{HOME}/leaderboard").text
    return run


def results_are_certified_and_contested(stage, eva, nora):
    """The organiser releases with the keyboard alone; the PI looks, appeals and certifies."""
    stage.clock.set("2018-04-10 12:00")
    release_by_keyboard(eva, "Release …")
    nora.open(HOME).follow("Review your results").sees("1.0000")
    nora.unfold("File an appeal").fill(text="Document 7 is not relevant.").press("File an appeal").sees("Appeal 1")
    nora.press("Certify results").sees("Your results are certified")


def release_by_keyboard(eva, words):
    """From the list to the button and through it, without a mouse."""
    wait_until_scored(eva)
    eva.open(f"{DESK}/release").by_keyboard(words)
    eva.sees("Before you release")
    eva.by_keyboard("Release now").sees("Released. Everybody concerned gets an email.")


def wait_until_scored(eva):
    """Every run has ended before anything is released."""
    for _ in range(200):
        line = eva.open(DESK).tab.locator("main tr", has_text="Evaluation week").inner_text().split("\t")
        if line[3].strip() == "0":
            return
        eva.tab.wait_for_timeout(200)
    raise AssertionError(line)


def results_are_scored_again(stage, eva):
    """A new version of the key is added, the appeal upheld, the re-scoring looked at, and applied."""
    eva.open(f"{DESK}/references").choose("place", "CLIR|EVAL1|1A|QUERY1").fill(reason="document 7")
    eva.attach("file", stage.mended_key()).press("Seal and validate").sees("sealed and proposed")
    eva.open(f"{DESK}/appeals").sees("Document 7 is not relevant.")
    eva.tab.locator("input[name='decision'][value='uphold']").check()
    choose_version(eva)
    eva.fill(reason="the label was wrong").press("Decide").sees("is upheld")
    eva.follow("CLIR · EVAL1").sees("Before and after")
    for _ in range(200):
        if "to be reviewed" in eva.text:
            break
        eva.tab.wait_for_timeout(200)
        eva.tab.reload()
    assert re.search(r"Gamma\s+final \d\s+Evaluation week\s+1\.0000\s+0\.\d+", eva.text), eva.text
    eva.follow("Apply …").sees("become active everywhere").press("Apply").sees("new results are now active")


def choose_version(eva):
    """Choose the newest version of the key for the appeal."""
    options = eva.tab.locator("select[name='reference'] option", has_text=re.compile("EVAL1.*version 2"))
    eva.choose("reference", options.first.get_attribute("value"))


def results_are_released(stage, eva, nora):
    """After certification: top, details, public; the board has groups and rank ranges."""
    stage.clock.set("2018-04-20 12:00")
    release_by_keyboard(eva, "Release …")
    for _ in range(200):
        text = nora.open(f"{HOME}/leaderboard").text
        if "Groups are being computed" not in text:
            break
        nora.tab.wait_for_timeout(300)
    assert "Gamma" in text
    assert "Beta" in text
    assert re.search(r"\b1(–2)?\s+Gamma", text), text
    nora.open(f"{HOME}/team").press("Show our team name in public").sees("You agreed")
    eva.open(f"{DESK}/release/week/details").press("Release now").sees("Released.")
    eva.open(f"{DESK}/release/week/public").press("Release now").sees("Released.")


def everybody_looks(stage):
    """A visitor sees released results, with names as teams agreed, and the plan."""
    with stage.office.reading() as session:
        pseudonym = session.get_one(Team, stage.season.beta).pseudonym
    visitor = stage.person("nobody")
    visitor.open(f"{HOME}/results").sees("Evaluation week: CLIR")
    visitor.follow("Evaluation week: CLIR").sees("Gamma").sees(pseudonym)
    assert "Beta" not in visitor.text
    visitor.follow("Gamma").sees("All values")
    visitor.open(f"{HOME}/plan").sees("No deviations")
    visitor.open(f"{HOME}/results")
    report = re.sub(rb"<script(?! id).*?</script>", b"", visitor.download("Report (HTML)"), flags=re.S)
    assert b"Gamma" in report
    assert b"Beta" not in report


def receipt_is_verified(stage, nora, run):
    """The receipt of the released score is checked without the server."""
    nora.open(run)
    for _ in range(100):
        if nora.tab.locator("main").get_by_role("link", name="Score receipt").count():
            break
        nora.tab.wait_for_timeout(200)
        nora.tab.reload()
    receipt = stage.folder / "score.json"
    receipt.write_bytes(nora.download("Score receipt"))
    keys = stage.folder / "keys.json"
    keys.write_bytes(nora.tab.request.get(f"{stage.address}/api/v1/keys").body())
    verified = CliRunner().invoke(app, ["verify", str(receipt), "--key", str(keys), "--json"])
    assert verified.exit_code == 0, verified.output
    assert json.loads(verified.stdout)
