"""An organiser has the pool of a window's runs judged, from the page of items."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from tests.cli.running import ROOT
from tests.server.panels.conftest import DESK
from tests.server.panels.staging import KEY, scheme

from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.model.plan import Declared
from basanite.campaign.office import Actor
from basanite.campaign.store.tables import PanelItem

IN_WINDOW = datetime(2018, 2, 1, tzinfo=UTC)
TEXTS = b"query,document,text\nquery04276,,rain in spring\n"


@pytest.fixture(scope="module")
def run(bench):
    """A primary run of the example in the window `dev`."""
    office = replace(bench.office, clock=lambda: IN_WINDOW)
    with office.writing() as session:
        said = Declared("CLIR", "Alpha", type="primary", language="1A", queryset="QUERY1", dataset=("DEV",))
        stored = office.files.take(ROOT / "examples" / "clir" / "Alpha.tgz")
        row = accept(session, office, Actor(bench.season.ada), Arrival(bench.season.alpha, said, stored))
        row.state = "scored"
        return row.id


def items(bench, panel):
    with bench.office.reading() as session:
        return session.scalars(select(PanelItem).where(PanelItem.panel_id == panel).order_by(PanelItem.number)).all()


@pytest.mark.slow
@pytest.mark.req("M95")
@pytest.mark.browser
def test_an_organiser_draws_a_pool_from_the_runs_of_a_window(opened, bench, run, tmp_path):
    panel = bench.panel(scheme("pool"), [], [], name="found", opened=False)
    (tmp_path / "texts.csv").write_bytes(TEXTS)
    tab = opened("eva", f"{DESK}/found/items")
    form = tab.locator("section", has=tab.get_by_role("heading", name="From submitted runs"))
    form.get_by_label("Window").select_option(label="Development on DEV")
    form.get_by_label("Documents of each run and query").fill("2")
    form.get_by_label("To be judged at most").fill("7")
    form.get_by_label("Which runs?").select_option(label="primary only")
    form.get_by_label("Material shown to judges").set_input_files(str(tmp_path / "texts.csv"))
    form.get_by_role("button", name="Build pool").click()
    tab.wait_for_selector("text=7 items are new.")
    assert "rain in spring" in tab.locator("main").inner_text()
    made = items(bench, panel)
    assert [[block["kind"] for block in row.blocks] for row in made] == [["query", "document"]] * 7
    assert not any(word in str([row.facts for row in made]) for word in (run, bench.season.alpha, "Alpha"))
    assert tab.complaints == []


def test_what_is_wrong_with_a_drawing_is_said_and_nothing_is_added(visit, bench, run):
    panel = bench.panel(scheme("pool"), [], [], name="wrong-pool", opened=False)
    eva, page = visit("eva"), f"{DESK}/wrong-pool/items"
    for sent, words in (
        ({"depth": "many", "window": "dev"}, "not a number"),
        ({"depth": "0", "window": "dev"}, "the depth is invalid"),
        ({"depth": "1", "window": "week"}, "no run to pool"),
    ):
        answer = eva.upload(page, f"{page}/pool", b"", "", **sent)
        assert answer.status_code in (409, 422)
        assert words in answer.text
    wrong = eva.upload(page, f"{page}/pool", b"query,words\nq,x\n", "t.csv", depth="1", window="dev")
    assert "no column text" in wrong.text
    assert items(bench, panel) == []


def test_a_panel_of_other_things_offers_no_pool(visit, bench):
    bench.panel(KEY, [], [], name="pairs", opened=False)
    assert "From submitted runs" in visit("eva").page(f"{DESK}/pairs/items"), "a key is made of documents, too"
    bench.panel(scheme("readability"), [], [], name="passages", opened=False)
    assert not re.search("From submitted runs|items/pool", visit("eva").page(f"{DESK}/passages/items"))
