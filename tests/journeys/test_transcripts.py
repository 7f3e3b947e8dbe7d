"""The journey of an evaluation team with transcripts: read, compare, flag, send to a panel, and have them judged."""

from __future__ import annotations

import re

import pytest
from tests.journeys.test_people_work import begin_judging, heading
from tests.journeys.world import HOME, campaign_text, window_text
from tests.models.loopback_model import LoopbackModel, serving, sum_of
from tests.models.test_run import COMMAND, ITEMS, written

pytestmark = [pytest.mark.browser, pytest.mark.req("D-5")]
QUESTIONS = window_text("questions", "Questions", "questions")


def two_runs(world):
    """Two models have answered the items: one adds, the other says that everything is 12."""
    for out, answer in (("adder", sum_of), ("parrot", lambda prompt: "Answer: 12")):
        with serving(LoopbackModel(answer=answer)) as model:
            written(world.folder, model)
            path = world.folder / "system.toml"
            path.write_text(path.read_text().replace('"adder"', f'"{out}"'))
            world.basanite(*COMMAND[:-1], out)
            transcripts = world.folder / out / "transcripts.jsonl"
            transcripts.rename(world.folder / f"{out}.jsonl")


@pytest.mark.req("L-4")
def test_flagged_answers_go_to_a_panel_with_one_click_and_are_judged(world):
    two_runs(world)
    world.begin(campaign_text(QUESTIONS))
    world.admin("reference", "add", "items.jsonl", "--task", "questions", "--dataset", "DEV")
    world.admin("people", "add", "ann@example.org", "--name", "Ann")
    world.admin("team", "add", "Alpha", "--pi", "ann@example.org")
    with world.serving():
        ann = world.person("ann@example.org").choose_password()
        ann.open(f"{HOME}/packs").press("I accept these rules").sees("You accepted the rules")
        for name in ("adder", "parrot"):
            ann.submit(world.folder / f"{name}.jsonl", slot="questions").sees("Accuracy")
        ann.follow("Read transcripts").sees(f"{ITEMS} of {ITEMS} answers")
        assert "Send to panel" not in ann.text, "a team reads, and sends nothing to judges"
        eva = world.member("eva@example.org", "Eva", "evaluation").add_second_factor()
        eva.open(ann.tab.url.removeprefix(world.address)).fill(words="5 plus").press("Search")
        eva.sees(f"1 of {ITEMS} answers").choose(
            "beside", eva.tab.locator("select[name=beside] option").nth(1).get_attribute("value")
        )
        eva.press("Search").sees("What is 5 plus 7?")
        for name in ("parrot", "adder"):
            eva.tab.get_by_role("heading", level=3, name=name).wait_for()
        eva.tab.get_by_role("checkbox", name="Flag").check()
        eva.press("Send to panel").sees("1 answer was sent to the panel.")
        jana = world.member("jana@example.org", "Jana")
        world.admin("panel", "enrol", "flagged-answers", "jana@example.org")
        world.admin("panel", "open", "flagged-answers")
        jana.open(world.link("jana@example.org", "judging/"))
        begin_judging(jana)
        heading(jana, "Item 1 of 1")
        assert "What is 5 plus 7?" in jana.text
        assert not re.search("parrot|Alpha", jana.text), "judges do not see whose answer it is"
        jana.tab.keyboard.press("y")
        jana.tab.keyboard.press("Enter")
        jana.sees(re.compile("done|Thank"))
    world.admin("panel", "files", "flagged-answers", "--out", "judged")
    answers = (world.folder / "judged" / "answers.csv").read_text()
    assert "yes" in answers, answers
