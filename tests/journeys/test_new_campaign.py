"""From an empty server to the first scored submission in browsers alone, with the clicks counted (P-35)."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from tests.journeys.world import EXAMPLES, PASSWORD, Person

pytestmark = [pytest.mark.browser, pytest.mark.req("D-5", "P-35")]
EXAMPLE = EXAMPLES / "classification"
CLICKS = 30
"""What an organizer presses and follows at most until a submission is scored, fields that are filled in not counted."""


class CountingPerson(Person):
    """Somebody whose clicks are counted."""

    def __init__(self, person: Person, clicks: Counter[str]) -> None:
        super().__init__(person.world, person.tab, person.mail)
        self.clicks = clicks
        person.world.people.append(self)

    def press(self, words):
        self.clicks[f"press {words}"] += 1
        return super().press(words)

    def follow(self, words):
        self.clicks[f"follow {words}"] += 1
        return super().follow(words)

    def unfold(self, words):
        self.clicks[f"unfold {words}"] += 1
        return super().unfold(words)


def test_a_campaign_is_made_in_the_browser_up_to_its_first_scored_submission(world):
    clicks = Counter()
    with world.serving():
        link = re.search(r"\S+(/setup/\w+)", (world.folder / "server.log").read_text())[1]
        ina = CountingPerson(world.person("ina@example.org"), clicks)
        ina.open(link).fill(name="Ina Lead", mail=ina.mail, password=PASSWORD).press("Create administrator")
        secret = ina.sees("QR code").tab.inner_text("code.secret")
        ina.fill(code=pyotp.TOTP(secret.strip()).now(), password=PASSWORD).press("Turn on").sees("recovery codes")
        ina.follow("I have saved them").sees("Choose a template")
        tomorrow = datetime.now(UTC) + timedelta(days=30)
        ina.tab.get_by_role("radio", name=re.compile("Leaderboard without end")).check()
        ina.fill(title="Sentiment 2026", zone="UTC", description="Which systems **understand** reviews?")
        ina.fill(closes=f"{tomorrow:%Y-%m-%dT%H:%M}").choose("task", "classification").press("Create draft")
        ina.sees("Setup checklist").sees("Publish the campaign")
        nobody = world.person("nobody@example.org")
        assert nobody.tab.goto(f"{world.address}/campaigns/sentiment-2026").status == 404, (
            "a draft is seen by organizers alone"
        )
        ina.follow("Add the reference for").choose("place", "classification|TEST||").fill(reason="first")
        ina.attach("file", EXAMPLE / "key.csv").press("Seal and validate").sees(re.compile("active|in force"))
        home = "/campaigns/sentiment-2026"
        ina.open(f"{home}/organise").follow("Add the files of").unfold("Add a file")
        ina.attach("file", EXAMPLE / "key.csv").press("Add file").sees("added to the data pack")
        ada = CountingPerson(world.person("ada@example.org"), clicks).sign_up("Ada")
        ina.open(f"{home}/organise").follow("Create a team").unfold("Create team")
        ina.fill(name="Alpha", mail=ada.mail).press("Create team").sees("Alpha")
        ina.open(f"{home}/organise").follow("Publish the campaign").press("Publish").sees("The campaign is public")
        ada.open(f"{home}/submit").attach("file", EXAMPLE / "Alpha.csv").fill(label="first")
        ada.tab.locator("main form[enctype] button").first.click()
        ada.tab.wait_for_selector("#live")
        ada.sees("F1 (macro)")
        assert sum(clicks.values()) + 1 <= CLICKS, clicks
        visitor = nobody.open(home)
        visitor.sees("Sentiment 2026").sees("understand").sees("1 team")
        assert visitor.tab.locator(".markdown strong").inner_text() == "understand"
        assert visitor.tab.goto(world.address + link).status == 404, "the link of the first administrator works once"
