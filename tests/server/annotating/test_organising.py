"""Projects are made, given out and previewed by organisers, in a browser; a second use case needs no code."""

from __future__ import annotations

import pytest
from tests.server.annotating.staging import EXAMPLES, NFL, select

from basanite.campaign.work.annotation.lookup import project_named
from basanite.formats.archives.output import write_archive

pytestmark = pytest.mark.browser
DESK = "/campaigns/small/organise/annotation"
USE_CASES = [EXAMPLES / "annotation" / "nfl-scoring.yaml", EXAMPLES / "annotation" / "protests" / "annotation.yaml"]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The NFL package as an archive."""
    out = tmp_path_factory.mktemp("archive") / "nfl.tgz"
    files = sorted(path for path in NFL.rglob("*") if path.is_file())
    write_archive(((path.relative_to(NFL).as_posix(), path.read_bytes()) for path in files), out)
    return out


@pytest.mark.slow
@pytest.mark.req("R-14", "R-15")
def test_a_project_is_made_of_a_package_and_a_file_and_given_out(stage, visit, archive):
    tab = visit("eva")
    tab.goto(stage.address + DESK)
    text = (EXAMPLES / "annotation" / "nfl-scoring.yaml").read_text(encoding="utf-8")
    tab.get_by_label("Name").fill("made-here")
    tab.get_by_label("Configuration").fill(text.replace("tabs: Game", "tabs: Gamme"))
    tab.get_by_label("The reading package").set_input_files(archive)
    tab.get_by_role("button", name="Create project").click()
    told = tab.get_by_role("alert").inner_text()
    assert "Gamme" in told
    assert "Game" in told.replace("Gamme", ""), "the cure"
    assert "tabs: Gamme" in tab.get_by_label("Configuration").input_value(), "nothing has to be typed again"

    tab.get_by_label("Configuration").fill(text)
    tab.get_by_label("The reading package").set_input_files(archive)
    tab.get_by_role("button", name="Create project").click()
    tab.wait_for_url(f"**{DESK}/*")
    tab.get_by_label("Assign texts to").fill("paul@example.org\nquin@example.org")
    tab.get_by_label("Split").select_option("train")
    tab.get_by_role("button", name="Assign texts").click()
    assert "Paul" in tab.inner_text("main")
    assert "Quin" in tab.inner_text("main")
    with stage.office.reading() as session:
        assert project_named(session, stage.season.campaign_id, "made-here").per_document == 2
    annotator = visit("quin")
    annotator.goto(f"{stage.address}/campaigns/small/annotate")
    assert "0 of 40 texts are done" in annotator.inner_text("main")
    assert not tab.complaints, tab.complaints


@pytest.mark.req("R-14")
def test_a_configuration_is_previewed_with_its_problems_and_as_it_will_look(stage, visit):
    project = stage.project(name="previewed", people=())
    tab = visit("eva")
    tab.goto(f"{stage.address}{DESK}/preview")
    broken = "annotation: x\nversion: 1\ncategories:\n  Game: {frame: true, kee: g}\n"
    tab.get_by_label("Project package").select_option(project)
    tab.get_by_label("Configuration").fill(broken)
    tab.get_by_role("button", name="Check and preview").click()
    told = tab.get_by_role("alert").inner_text()
    assert "line 4" in told
    assert "kee" in told

    tab.get_by_label("Configuration").fill("")
    tab.get_by_role("button", name="Check and preview").click()
    tab.locator("#palette button").first.wait_for()
    first = tab.inner_text("#text").split()[0]
    select(tab, first)
    tab.keyboard.press("g")
    tab.locator(".mark", has_text=first).first.wait_for()
    assert tab.locator("#finish").count() == 0
    assert not tab.complaints, tab.complaints


@pytest.mark.few(1)
@pytest.mark.req("R-14")
@pytest.mark.parametrize("path", USE_CASES, ids=["nfl-scoring", "protests"])
def test_every_use_case_renders_from_its_file_alone_and_names_nothing_of_the_ontology(chrome, path):
    from tests.server.annotating.states import given
    from tests.server.pages.conftest import HOST, answer
    from tests.server.pages.states import frame

    from basanite.server.pages import annotation_workbench
    from basanite.server.pages.annotation_data import config_data
    from basanite.server.pages.frame import render
    from basanite.work.annotation.config import read_config

    config, problems = read_config(path, NFL if path.parent.name == "annotation" else path.parent)
    assert config is not None, problems
    data = given("none") | {"config": config_data(config), "text": "Somebody said something."}
    html = render(annotation_workbench.TextPage(config.title, data["text"], data), frame("one"))
    tab = chrome.new_page()
    complaints = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.route("**/*", lambda route: answer(route, html))
    tab.goto(f"{HOST}/shown")
    tab.locator("#palette button").first.wait_for()
    shown = tab.inner_text("#form")
    top = [one for one in config.categories.values() if not one.parent]
    assert top
    assert all((one.title or one.name) in shown for one in top)
    words = " ".join(tab.locator("#form").all_inner_texts())
    assert config.ontology.prefixes.all
    assert not any(space in words for space in config.ontology.prefixes.all.values())
    assert complaints == []
    tab.close()
