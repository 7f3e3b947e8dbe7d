"""The journeys of a newcomer, a participant, a PI, an organizer and a manager, through doors only (D-5)."""

from __future__ import annotations

import json
import re
import shutil
import tarfile

import pytest
from tests.journeys.world import DESK, EXAMPLES, HOME, campaign_text, day, window_text

pytestmark = [pytest.mark.browser, pytest.mark.req("D-5")]
CLIR, ONE_FILE = EXAMPLES / "clir", EXAMPLES / "classification"
AGREEMENT = f"""[[agreements]]
id = "data"
title = "Data agreement"
version = "1"
text = "Keep the data to yourselves."
expires = "{day(90)} 00:00"

"""
SEARCH = window_text("search", "Search in development data", "CLIR")
LABELS = window_text("labels", "Labels for reviews", "classification")


def key_archive(folder):
    """The key of the example as one archive, as an organizer would have it."""
    archive = folder / "key.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for path in sorted((CLIR / "key").iterdir()):
            tar.add(path, arcname=path.name)
    return archive


def make_team(world, eva, name, pi):
    """A PI signs up and asks, an organizer agrees, the team is made, and the rules are accepted."""
    pi.open(f"{HOME}/team").fill(text=f"We want to take part as {name}.").press("Ask to lead a team")
    pi.sees("have your request")
    eva.open(DESK).follow("asks to lead a team").sees(f"take part as {name}").press("Approve")
    eva.sees("They can create a team now")
    pi.open(f"{HOME}/team").fill(name=name, site="Lab").press("Create team").sees("you are the PI")
    pi.open(f"{HOME}/packs").press("I accept these rules").sees("You accepted the rules")
    return pi


def open_tasks(world, *teams):
    """What organizers did before: keys are in, and each team has its PI, who has accepted the rules."""
    world.admin(
        "reference", "add", key_archive(world.folder), "--task", "CLIR", "--dataset", "DEV", "--queryset", "QUERY1"
    )
    world.admin("reference", "add", ONE_FILE / "key.csv", "--task", "classification", "--dataset", "DEV")
    for name in teams:
        mail = f"{name.lower()}@example.org"
        world.admin("people", "add", mail, "--name", f"PI of {name}")
        world.admin("team", "add", name, "--pi", mail)


def close_window(world):
    """The organizer closes the window earlier than planned, by a new version of the file."""
    text = (world.folder / "campaign.toml").read_text()
    earlier = text.replace(f'closes = "{day(20)} 00:00"', f'closes = "{day(0)} 00:00"')
    assert earlier != text
    (world.folder / "campaign.toml").write_text(earlier)
    world.admin("campaign", "change", "campaign.toml", "--reason", "everybody is done")


@pytest.mark.req("P-7")
def test_an_organizer_opens_a_campaign_from_its_file_and_publishes_a_board(world):
    world.begin(campaign_text(SEARCH))
    with world.serving():
        eva = world.member("eva@example.org", "Eva Low", "evaluation").add_second_factor()
        eva.open(f"{DESK}/packs").unfold("Add a file").attach("file", CLIR / "documents.txt").press("Add file")
        eva.sees("added to the data pack")
        eva.open(f"{DESK}/references").choose("place", "CLIR|DEV|1A|QUERY1").fill(reason="the first version")
        eva.attach("file", key_archive(world.folder)).press("Seal and validate")
        eva.sees(re.compile("active|holds|opened|in force"))
        for name, file in (("Alpha", "Alpha.tgz"), ("Beta", "Beta.tgz")):
            pi = make_team(world, eva, name, world.person(f"{name.lower()}@example.org").sign_up(f"PI of {name}"))
            pi.submit(CLIR / file, kind="primary").sees("AQWV")
        close_window(world)
        for level in ("top", "details", "public"):
            eva.open(f"{DESK}/release/search/{level}").press("Release now").sees("Released.")
        visitor = world.person("nobody").waits_for(f"{HOME}/leaderboard", "Rank")
        assert len(re.findall(r"\d\.\d{4}", visitor.text)) >= 2, visitor.text
        assert "Nothing is released yet" not in visitor.text


@pytest.mark.req("M61")
def test_a_newcomer_makes_an_account_and_finds_a_team(world):
    world.begin(campaign_text(SEARCH, LABELS))
    open_tasks(world, "Alpha")
    with world.serving():
        olaf = world.person("olaf@example.org").open("/")
        olaf.follow("A journey").sees("Search in development data")
        olaf.sign_up("Olaf").open(f"{HOME}/team").choose("team", "Alpha").press("Request membership").sees(
            "Its PI decides"
        )
        pi = world.person("alpha@example.org").choose_password()
        link = world.link("alpha@example.org", "/team")
        pi.open(link).press("Approve").sees("new member")
        olaf.open(world.link("olaf@example.org", HOME)).open(f"{HOME}/team").sees("Alpha")
        olaf.open(f"{HOME}/submit").sees("Rules").follow("Read rules").press("I accept these rules")
        olaf.open(f"{HOME}/submit").sees("Task and data set")


@pytest.mark.req("M79", "P-9")
def test_a_participant_fixes_a_file_compares_runs_and_verifies_a_receipt(world):
    world.begin(campaign_text(SEARCH, LABELS))
    open_tasks(world, "Alpha")
    with world.serving():
        ada = world.person("alpha@example.org").choose_password()
        ada.open(f"{HOME}/packs").press("I accept these rules").sees("You accepted the rules")
        ada.submit(broken_archive(world.folder)).sees("not valid")
        assert re.search(r"query\d+\.tsv:\d+", ada.text), ada.text
        ada.submit(CLIR / "Alpha.tgz").sees("0.7088")
        ada.submit(CLIR / "Beta.tgz").sees("0.5261")
        ada.open(f"{HOME}/compare").sees("Alpha")
        ada.submit(ONE_FILE / "Alpha.csv", slot="classification").sees("F1 (macro)")
        assert "Alpha.csv" in ada.text, "the name that the file was sent under is shown"
        receipt = world.folder / "receipt.json"
        receipt.write_bytes(ada.download("Intake receipt"))
        (world.folder / "keys.json").write_bytes(ada.tab.request.get(f"{world.address}/api/v1/keys").body())
        told = json.loads(world.basanite("verify", receipt, "--key", "keys.json", "--json").stdout)
        assert told["valid"] is True, told


def broken_archive(folder):
    """A run as it happens: one confidence out of range, one line short."""
    archive = folder / "Broken.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for path in sorted((CLIR / "broken").rglob("*.tsv")):
            tar.add(path, arcname=path.name)
    return archive


@pytest.mark.req("P-24", "P-26")
def test_a_pi_signs_lets_people_in_certifies_and_appeals(world):
    world.begin(
        campaign_text(window_text("week", "Evaluation week", "CLIR", kind="evaluation"), LABELS, more=AGREEMENT)
    )
    open_tasks(world)
    with world.serving():
        eva = world.member("eva@example.org", "Eva Low", "evaluation").add_second_factor()
        nora = make_team(world, eva, "Gamma", world.person("nora@example.org").sign_up("Nora"))
        (copy := world.folder / "signed.pdf").write_bytes(b"%PDF-1.7 signed by Nora")
        nora.attach("copy", copy).press("Upload copy").sees("waiting for the organi")
        eva.open(DESK).follow("1 agreement to countersign").press("Countersign").sees("agreement is executed")
        nora.submit(CLIR / "Alpha.tgz", kind="primary").sees("Scores are hidden")
        assert "0.7088" not in nora.text, "nobody sees a value of a blind week"
        close_window(world)
        eva.open(f"{DESK}/release/week/certification").press("Release now").sees("Released.")
        nora.open(world.link("nora@example.org", "certification")).sees("0.7088").open(HOME).follow(
            "Review your results"
        ).sees("0.7088")
        nora.unfold("File an appeal").fill(text="Document 7 is not relevant.").press("File an appeal").sees("Appeal 1")
        nora.press("Certify results").sees("Your results are certified")
        eva.open(f"{DESK}/appeals").sees("Document 7 is not relevant.").sees("Evaluation week")


@pytest.mark.req("P-29")
def test_a_manager_reads_the_board_takes_report_and_slides_and_the_site_stands_alone(world):
    world.begin(campaign_text(SEARCH, LABELS))
    open_tasks(world, "Alpha", "Beta")
    with world.serving():
        for name in ("Alpha", "Beta"):
            pi = world.person(f"{name.lower()}@example.org").choose_password()
            pi.open(f"{HOME}/packs").press("I accept these rules").sees("You accepted the rules")
            (world.folder / "token").write_text(token(world, pi.mail))
            where = ("--server", world.address, "--campaign", "journey", "--token-file", "token")
            what = ("--task", "CLIR", "--label", name, "--type", "primary", "--json")
            shutil.copy(CLIR / f"{name}.tgz", world.folder)
            world.basanite("submit", f"{name}.tgz", *where, *what)
        close_window(world)
        for level in ("top", "details", "public"):
            world.admin("release", "search", level)
        manager = world.person("nobody").waits_for(f"{HOME}/leaderboard", "Rank")
        manager.open(f"{HOME}/results").follow("Search in development data").sees("Rank")
        report = manager.open(f"{HOME}/results").download("Report (HTML)")
        slides = manager.download("Slides")
        assert report.lower().startswith(b"<!doctype html>")
        assert b"A journey" in report
        assert slides.startswith(b"PK")
        world.basanite("publish", "journey", "site", "--data", world.data)
        manager.tab.goto((world.folder / "site" / "index.html").as_uri())
        assert "A journey" in manager.tab.inner_text("body")


def token(world, mail):
    """A token for a person's programs, as it is shown once."""
    return json.loads(world.admin("token", mail, "--label", "laptop", "--json"))["token"]


@pytest.mark.req("P-14")
def test_an_operator_checks_backs_up_and_restores_elsewhere(world):
    world.begin(campaign_text(SEARCH, LABELS))
    open_tasks(world, "Alpha")
    world.basanite("doctor", "--data", world.data)
    with world.serving():
        ada = world.person("alpha@example.org").choose_password()
        ada.open(f"{HOME}/packs").press("I accept these rules").sees("You accepted the rules")
        ada.submit(CLIR / "Alpha.tgz").sees("0.7088")
        (world.folder / "backup.key").write_text("0f" * 32)
        keys = ("--key", "backup.key")
        world.basanite("backup", "all.backup", "--data", world.data, *keys, "--vault-to", "vault.copy")
    world.data = world.folder / "elsewhere"
    world.basanite("restore", "all.backup", "--data", world.data, *keys, "--vault-from", "vault.copy")
    assert "holds" in world.admin("events", "--verify")
    with world.serving():
        ada = world.person("alpha@example.org").sign_in().open(f"{HOME}/submissions").follow("Alpha").sees("0.7088")
        ada.submit(CLIR / "Beta.tgz").sees("0.5261")
