"""The journey of a new reading domain: from nothing to a gold that annotators grew and a run that is scored again."""

from __future__ import annotations

import json
import re
import shutil
import tarfile

import pytest
from tests.journeys.world import DESK, HOME, campaign_text, window_text
from tests.server.annotating.staging import saved, select

pytestmark = [pytest.mark.browser, pytest.mark.req("D-5")]
WINDOW = window_text("reading", "Reading visits", "reading") + '[windows.settings]\npart = "test"\n\n'
PLACE = "reading|DEV|1A|"
FIELDS = ("query", "document", "answer", "kind", "provenance")


def packed(folder, name):
    """A folder as the archive that pages take."""
    path = folder.parent / name
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, arcname=folder.name)
    return path


def new_domain(world):
    """A package by commands: its gold knows the first visit of the test text; a system's answers say both."""
    world.basanite("reading", "new", "visits")
    package = world.folder / "visits"
    whole = shutil.copytree(package, world.folder / "whole")
    world.basanite("reading", "gold", "whole")
    said = [json.loads(line) for line in (whole / "gold" / "v1.ndjson").read_text().splitlines()]
    answers = [{name: one[name] for name in FIELDS} for one in said if one["document"] == "visit-2"]
    (world.folder / "reader.ndjson").write_text("".join(json.dumps(one) + "\n" for one in answers))
    lines = (package / "annotations" / "test.ndjson").read_text().splitlines(keepends=True)
    known = [line for line in lines if "visit-3" not in line and "Riga" not in line]
    (package / "annotations" / "test.ndjson").write_text("".join(known))
    world.basanite("reading", "gold", "visits")
    world.basanite("reading", "check", "visits")
    return packed(package, "visits.tgz")


def annotate(person, *, place):
    """Mark the second visit of the text by mouse and keys: who it was, and where if asked; then finish."""
    person.open(f"{HOME}/annotate").follow("visit-2")
    tab = person.tab
    tab.get_by_role("toolbar").get_by_role("button", name="Person p").wait_for()
    marks = {"Jonas Weber": "p", "Riga": "w", "on his way": "v"}
    for words, key in marks.items() if place else [*marks.items()][::2]:
        select(tab, words)
        tab.keyboard.press(key)
    tab.get_by_label("Visitor").select_option(index=1)
    if place:
        tab.get_by_label("Place", exact=True).select_option(index=1)
    saved(tab)
    here = tab.url
    for _ in range(2):  # what the reasoner still asks for is pointed at first
        tab.keyboard.press("F8")
        if tab.locator("#told", has_text="Press F8 again").count() == 0:
            break
    tab.wait_for_url(lambda there: there != here)


def adjudicate(person):
    """Take what both say, and of every difference the side that says most."""
    person.open(f"{HOME}/annotate").follow("Adjudicate disagreements").follow("visit-2")
    tab = person.tab
    while (button := next_decision(tab)) is not None:
        with tab.expect_navigation():
            button.click()
    person.press("Finish").tab.wait_for_url("**/annotate/decide")


def next_decision(tab):
    """What is to be pressed next: all that is unanimous, then the side of the first case that says most."""
    tab.locator("#finish, .case").first.wait_for()
    if tab.locator("#unanimous button").count():
        return tab.locator("#unanimous button").first
    if not tab.locator(".case").count():
        return None
    case = tab.locator(".case").first
    said = case.locator(".side").all_inner_texts()
    keys = case.locator("button[data-key]:not([data-key='0'])").evaluate_all("all => all.map((one) => one.dataset.key)")
    fullest = max(keys, key=lambda key: (len(said[int(key) - 1]), key))
    return case.locator(f"button[data-key='{fullest}']")


def grow(person):
    """Make a new version of the reference from what was adjudicated, preview a re-scoring, and apply it."""
    person.open(f"{DESK}/annotation").follow("visits").choose("place", PLACE)
    person.fill(because="the second visit is annotated").press("Create version")
    person.tab.wait_for_url("**/rescoring?reference=*")
    person.fill(reason="the gold has grown").press("Compute preview")
    person.waits_for(f"{DESK}/rescoring", "to be reviewed").follow("reading").sees("Before and after")
    person.follow("Apply").press("Apply").sees("new results are now active")


def value_of(person, page):
    """The value of F on the page of a submission."""
    found = re.search(r"\b([01]\.\d{3,4})\b", person.open(page).text)
    assert found, person.text
    return float(found[1])


@pytest.mark.req("R-37", "R-17")
def test_a_new_domain_is_annotated_twice_adjudicated_grown_and_scored_again(world):
    world.begin(campaign_text(WINDOW))
    archive = new_domain(world)
    world.admin("people", "add", "ada@example.org", "--name", "Ada")
    world.admin("team", "add", "Alpha", "--pi", "ada@example.org")
    with world.serving():
        eva = world.member("eva@example.org", "Eva", "evaluation").add_second_factor()
        anna, axel = (world.member(f"{name}@example.org", name.title(), "annotator") for name in ("anna", "axel"))
        zoe = world.member("zoe@example.org", "Zoe", "adjudicator")
        eva.open(f"{DESK}/references").choose("place", PLACE).fill(reason="what was annotated at home")
        eva.attach("file", archive).press("Seal and validate").sees(re.compile("active|in force"))
        eva.open(f"{DESK}/annotation").attach("file", archive).press("Create project").sees("visits")
        eva.fill(people="anna@example.org\naxel@example.org").choose("part", "test").press("Assign texts")
        eva.sees("Anna")
        ada = world.person("ada@example.org").choose_password()
        ada.open(f"{HOME}/packs").press("I accept these rules").sees("You accepted the rules")
        ada.submit(world.folder / "reader.ndjson", slot="reading").sees(re.compile(r"0\.\d{3,4}"))
        run = ada.tab.url.removeprefix(world.address)
        before = value_of(ada, run)
        annotate(anna, place=True)
        annotate(axel, place=False)
        adjudicate(zoe)
        grow(eva)
        after = value_of(ada, run)
        assert after > before, "the visit that only the system had found is right now"
