"""Organisers run a panel by its pages: made from a preset, filled, opened, watched, paid, turned into a reference."""

from __future__ import annotations

import csv
import io
import itertools
import re

import pytest
from sqlalchemy import select
from tests.cli.running import ROOT
from tests.server.judging.staging import passage
from tests.server.panels.conftest import DESK
from tests.server.panels.staging import KEY, READABILITY, STARS, documents, scheme

from basanite.campaign.office import Actor
from basanite.campaign.store.tables import Assignment, Event, Judgement, Panel, PanelItem, Reference, Seat
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import enrolment, judge_work, setup
from basanite.work.items import Block, item_of


def panel_of(bench, name):
    with bench.office.reading() as session:
        return session.scalars(select(Panel).where(Panel.name == name)).one()


def count(bench, table, panel):
    with bench.office.reading() as session:
        return len(session.scalars(select(table).where(table.panel_id == panel)).all())


@pytest.mark.slow
@pytest.mark.req("P-7", "R-2")
@pytest.mark.browser
def test_an_organiser_makes_a_readability_panel_from_the_examples_and_opens_it(opened, bench):
    for who in ("nina", "noor"):
        bench.person(who)
    tab = opened("eva", DESK)
    tab.get_by_role("link", name="New panel").click()
    tab.get_by_role("radio", name=re.compile("^Readability")).check()
    tab.get_by_role("button", name="Show text").click()
    tab.get_by_label("Short name").fill("reading-one")
    tab.get_by_role("button", name="Preview as a judge").click()
    shown = tab.locator("#as-judge")
    assert shown.get_by_role("radio", name="5 stars: very easy").is_disabled()
    assert "Consent, version" in shown.inner_text()
    tab.get_by_role("button", name="Create panel").click()
    tab.wait_for_url("**/reading-one/items")
    tab.get_by_label("Contents").select_option("pool")
    tab.set_input_files("#f-file", str(ROOT / "examples" / "judging" / "pool.csv"))
    tab.get_by_role("button", name="Add items").click()
    tab.wait_for_selector("text=items are new.")
    tab.get_by_role("link", name="Judges", exact=True).click()
    tab.get_by_label("Email addresses").fill("nina@example.org\nnoor@example.org")
    tab.get_by_label("Group").select_option("novice")
    tab.get_by_role("button", name="Enroll judges").click()
    tab.wait_for_selector("text=2 judges are enrolled.")
    tab.get_by_role("navigation", name="Panel pages").get_by_role("link", name="Dashboard").click()
    tab.get_by_role("button", name="Open the panel").click()
    tab.wait_for_selector("text=its judges are notified")
    panel = panel_of(bench, "reading-one")
    items = count(bench, PanelItem, panel.id)
    assert items > 50
    assert (panel.state, count(bench, Assignment, panel.id)) == ("open", 2 * items)
    assert bench.desk(panel.id, "nina").stage == "consent"
    assert tab.complaints == []


def test_mistakes_of_a_scheme_are_shown_in_place_with_line_and_cure(visit, bench):
    text = 'format = "basanite-judging/1"\nname = "x"\npreset = "readability"\nround_size = "ten"\ncolour = "red"\n'
    eva = visit("eva")
    answer = eva.upload(f"{DESK}/new", f"{DESK}/new", b"", act="create", name="wrong", text=text)
    assert answer.status_code == 422
    assert "line 4" in answer.text
    assert "line 5" in answer.text
    assert "colour" in answer.text
    assert text.splitlines()[3].replace('"', "&#34;") in answer.text, "what was typed stays"
    named = eva.upload(f"{DESK}/new", f"{DESK}/new", b"", act="create", name="Not a name!", text=scheme("binary"))
    assert named.status_code == 422
    assert "not a valid panel name" in named.text
    filed = eva.upload(f"{DESK}/new", f"{DESK}/new", scheme("binary").encode(), "s.toml", act="preview", name="b")
    assert filed.status_code == 200
    assert "Preview as a judge sees it" in filed.text


def test_every_preset_can_be_looked_at_as_a_judge(visit):
    from basanite.work.scheme import PRESETS

    eva = visit("eva")
    for preset in PRESETS:
        page = eva.page(f"{DESK}/new?preset={preset}")
        text = re.search(r'<textarea id="f-text"[^>]*>(.*?)</textarea>', page, re.S)[1]
        shown = eva.upload(f"{DESK}/new", f"{DESK}/new", b"", act="preview", name=preset, text=unescaped(text))
        assert (preset, shown.status_code) == (preset, 200)
        assert "Preview as a judge sees it" in shown.text


def unescaped(text):
    import html

    return html.unescape(text)


def test_mistakes_of_a_table_are_shown_by_line_and_nothing_is_added(visit, bench):
    panel = bench.panel(READABILITY, [], [], name="tables", opened=False)
    eva, page = visit("eva"), f"{DESK}/tables/items"
    wrong = eva.upload(page, page, b"text,dir\ngood,ltr\n,ltr\nbad,up\n", "x.csv", role="real", kind="items")
    assert wrong.status_code == 422
    assert "line 3" in wrong.text
    assert "line 4" in wrong.text
    assert "no such direction" in wrong.text
    assert eva.upload(page, page, b"genre\nnews\n", "x.csv", role="real").status_code == 422
    assert "no correct answer" in eva.upload(page, page, b"text\nx\n", "x.csv", role="check").text
    assert count(bench, PanelItem, panel) == 0
    added = eva.upload(page, page, b"text,expected.rating\nx,5\n", "x.csv", role="check")
    assert "1 item is new." in added.text
    with bench.office.reading() as session:
        item = session.scalars(select(PanelItem).where(PanelItem.panel_id == panel)).one()
    assert (item.role, item.expected) == ("check", {"rating": 5.0})
    assert eva.upload(page, page, b"text\nsame\nsame\n", "x.csv", role="real").status_code in (200, 422)


def test_a_pool_of_passages_is_prepared(visit, bench):
    panel = bench.panel(READABILITY, [], [], name="pool", opened=False)
    body = " ".join(f"The river rose for the {n} time and people went home with all they had." for n in range(8))
    pool = f'passage,genre,topic,text\np1,newswire,rain,"PARIS, March 3 (AFN) -- {body}"\n'
    answer = visit("eva").upload(
        f"{DESK}/pool/items", f"{DESK}/pool/items", pool.encode(), "p.csv", kind="pool", role="real"
    )
    assert "1 item is new." in answer.text
    with bench.office.reading() as session:
        item = session.scalars(select(PanelItem).where(PanelItem.panel_id == panel)).one()
    assert "AFN" not in item.blocks[0]["value"], "surface marks are removed"
    assert item.facts["genre"] == "newswire"


def alpha_by_pairs(table):
    """Krippendorff's alpha for interval data from its definition: pairs within items against all pairs."""
    units = [[float(one) for one in row] for row in table if len(row) > 1]
    values = [one for row in units for one in row]
    within = sum(sum((a - b) ** 2 for a, b in itertools.permutations(row, 2)) / (len(row) - 1) for row in units)
    total = sum((a - b) ** 2 for a, b in itertools.permutations(values, 2)) / (len(values) - 1)
    return 1 - within / total


@pytest.mark.req("P-7", "R-5")
def test_the_dashboard_shows_progress_bias_and_agreement_as_computed_by_hand(visit, bench):
    bench.readability("numbers")
    page = visit("eva").page(f"{DESK}/numbers")
    table = list(zip(*STARS.values(), strict=True))
    assert f"{alpha_by_pairs(table):.4f}" in page
    pairs = [a == b for row in table for a, b in itertools.combinations(row, 2)]
    assert f"{sum(pairs) / len(pairs):.4f}" in page
    bias = [own - (sum(row) - own) / 2 for row in table for own in row[:1]]
    assert f"{sum(bias) / 5:.4f}" in page
    assert "15" in page
    assert "20 s" in page
    near = 1 - sum(abs(a - b) for a, b, _ in table) / 5 / 4
    assert f"{near:.4f}" in page, "the heat map has a table of its numbers"
    assert "at least 15 items needed for an interval" in page


def test_undefined_agreement_says_why(visit, bench):
    bench.panel(KEY, documents(2), ["ada"], name="lonely")
    page = visit("eva").page(f"{DESK}/lonely")
    assert "undefined: " in page
    assert "no item has two ratings" in page


@pytest.mark.slow
@pytest.mark.req("P-7")
@pytest.mark.browser
def test_the_dashboard_moves_while_judges_work(opened, bench):
    panel = bench.panel(KEY, documents(3), ["ada", "ben"], name="moving")
    tab = opened("eva", f"{DESK}/moving")
    assert "0 of 3" in tab.inner_text("main")
    bench.begin(panel, "ada")
    found = bench.desk(panel, "ada")
    bench.do(
        judge_work.answer,
        Actor(bench.people["ada"]),
        panel,
        found.assignment,
        judge_work.Answer({"relevant": "Y"}, key="one"),
    )
    tab.wait_for_selector("text=1 of 3")  # without loading the page again by hand


@pytest.mark.req("M49", "X-9")
def test_a_judges_flag_reaches_the_organiser(visit, bench):
    items = [item_of([Block("query", "q"), Block("text", "x")], {"query": "q", "system": "Sys1"}, new_id=random_id)]
    text = scheme("relevance", 'shows = ["query", "text"]\n[checks]\nshare = 0.0\n')
    panel = bench.panel(text, items, ["ada"], name="flagged")
    assert "No flags" in visit("eva").page(f"{DESK}/flagged/flags")
    bench.begin(panel, "ada")
    found = bench.desk(panel, "ada")
    given = {"key": "k", "flags": ("not-text", "shows-its-maker")}
    bench.do(
        judge_work.answer,
        Actor(bench.people["ada"]),
        panel,
        found.assignment,
        judge_work.Answer({"verdict": "N"}, **given),
    )
    page = visit("eva").page(f"{DESK}/flagged/flags")
    for words in ("It is not text", "It shows who made it", "Ada", "system Sys1"):
        assert words in page
    assert '<span class="tally hot">2</span>' in visit("eva").page(f"{DESK}/flagged")


@pytest.mark.req("X-9")
def test_instructions_are_looked_at_before_and_hidden_with_a_reason(visit, bench):
    told = [Block("instructions", 'Choose <b>Relevant</b><script>x</script><a href="y">us</a>', "general")]
    items = [item_of([Block("query", "q"), Block("document", "d"), *told], {"query": "q"}, new_id=random_id)]
    panel = bench.panel(KEY, items, ["ada"], name="told", opened=False)
    eva, page = visit("eva"), f"{DESK}/told/preview"
    seen = eva.page(page)
    assert "Choose <b>Relevant</b>us" in seen
    assert "Written by the system" in seen
    with bench.office.reading() as session:
        item = session.scalars(select(PanelItem.id).where(PanelItem.panel_id == panel)).one()
    act = f"{DESK}/told/items/{item}/hide"
    assert eva.send(page, act, block="2", reason="").status_code == 422
    assert eva.send(page, act, block="0", reason="x").status_code == 422, "the query is not a system's"
    assert "The words are hidden from all judges." in eva.send(page, act, block="2", reason="asks for a verdict").text
    bench.do(setup.open_panel, bench.season.as_eva, panel)
    bench.begin(panel, "ada")
    assert [one.kind for one in bench.desk(panel, "ada").blocks] == ["query", "document"]
    with bench.office.reading() as session:
        logged = session.scalars(select(Event.data).where(Event.kind == "item.hidden")).all()
    assert logged[-1]["reason"] == "asks for a verdict"


@pytest.mark.req("P-22")
def test_pay_is_stated_for_each_judge_with_the_rate_and_a_warning_below_the_floor(visit, bench):
    bench.readability("paid")
    eva = visit("eva")
    page = eva.page(f"{DESK}/paid/pay")
    assert "3 judges earn less per hour than the minimum of 12.00 EUR" in page
    assert page.count("0.25 EUR") == 3, "five items for 0.05 each"
    assert "9.00 EUR" in page, "100 seconds for 0.25"
    assert "0.75 EUR" in page
    answer = eva.get(f"{DESK}/paid/pay.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert sorted(row["name"] for row in rows) == ["Ada", "Ben", "Cleo"]
    assert {(row["pay"], row["rate_per_hour"], row["floor"]) for row in rows} == {("0.25", "9.00", "12.00")}
    assert "attachment" in answer.headers["content-disposition"]


@pytest.mark.req("P-22")
def test_a_judge_is_enrolled_and_removed_and_the_work_goes_to_others(visit, bench):
    panel = bench.panel(KEY, documents(4), ["ada", "ben"], name="seats")
    eva, page = visit("eva"), f"{DESK}/seats/judges"
    unknown = eva.send(page, mails="nobody@example.org cleo@example.org", group="judge")
    assert unknown.status_code == 422
    assert "nobody@example.org" in unknown.text
    bench.person("cleo")
    assert "1 judge is enrolled." in eva.send(page, mails="cleo@example.org", group="judge").text
    team = eva.send(page, mails="ada@example.org", group="judge")
    assert team.status_code == 409, "already on the panel"
    act = f"{page}/{bench.people['ada']}/remove"
    assert eva.send(page, act, reason="").status_code == 422
    assert "Open items go to other judges" in eva.send(page, act, reason="ill").text
    with bench.office.reading() as session:
        seat = session.scalars(select(Seat).where(Seat.panel_id == panel, Seat.person_id == bench.people["ada"])).one()
        left = session.scalars(
            select(Assignment.person_id).where(Assignment.panel_id == panel, Assignment.state == "planned")
        ).all()
    assert seat.state == "removed"
    assert sorted(left) == sorted([bench.people["ben"]] * 4 + [bench.people["cleo"]] * 4)
    assert "planned, as far as" in eva.send(page, f"{DESK}/seats/plan").text


@pytest.mark.req("X-18")
def test_a_batch_goes_out_and_results_of_other_rows_are_refused_in_place(visit, bench):
    items = [item_of([Block("query", "q"), Block("text", f"t{n}")], {"query": "q"}, new_id=random_id) for n in range(2)]
    text = scheme("relevance", 'shows = ["query", "text"]\nkeep_apart = []\n[checks]\nshare = 0.0\n')
    panel = bench.panel(text, items, [], name="crowd")
    eva, page = visit("eva"), f"{DESK}/crowd/batches"
    assert "The batch is ready." in eva.send(page).text
    batch = re.search(rf"{page}/(\w+)/rows.csv", eva.page(page))[1]
    template, table = eva.get(f"{page}/{batch}/template.xml"), eva.get(f"{page}/{batch}/rows.csv")
    assert template.status_code == table.status_code == 200
    sent = list(csv.DictReader(io.StringIO(table.text)))
    assert len(sent) == 2
    changed = answered(sent, other=True)
    refused = eva.upload(page, f"{page}/{batch}", changed, "results.csv")
    assert refused.status_code == 422
    assert "Nothing was imported" in refused.text
    assert count(bench, Judgement, panel) == 0
    taken = eva.upload(page, f"{page}/{batch}", answered(sent), "results.csv")
    assert "2 judgments are imported." in taken.text
    assert count(bench, Judgement, panel) == 2
    assert "W1" not in eva.page(f"{DESK}/crowd"), "workers' ids are hidden"
    assert eva.get(f"{page}/{'0' * 20}/rows.csv").status_code == 404


def answered(sent, *, other=False):
    """Results as the platform gives them back, for a worker of each row; or with one input changed."""
    rows = []
    for number, row in enumerate(sent, 1):
        inputs = {f"Input.{name}": value for name, value in row.items()}
        if other and number == 1:
            inputs = {
                name: value + "x" if name.endswith("text") or "text" in name else value
                for name, value in inputs.items()
            }
        ids = {"HITId": f"H{number}", "AssignmentId": f"A{number}", "WorkerId": f"W{number}"}
        rows.append(
            {**ids, "AssignmentStatus": "Submitted", "WorkTimeInSeconds": "20", **inputs, "Answer.verdict": "R"}
        )
    held = io.StringIO(newline="")
    writer = csv.DictWriter(held, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return held.getvalue().encode()


@pytest.mark.req("M88")
def test_a_double_marked_adjudicated_key_becomes_a_version_that_is_previewed(visit, bench):
    panel = bench.key("truth", items=key_documents())
    eva, zoe, page = visit("eva"), visit("zoe"), f"{DESK}/truth/results"
    assert "Close the panel first" in eva.page(page)
    cases = re.findall(r"/adjudicate/truth/(\w{20,})", zoe.page("/campaigns/small/adjudicate/truth"))
    for case in dict.fromkeys(cases):
        zoe.send(f"/campaigns/small/adjudicate/truth/{case}", take="own", code="guidelines", **{"q-relevant": "Y"})
    assert "closed" in eva.send(f"{DESK}/truth", f"{DESK}/truth/close").text
    held = eva.page(page)
    name = re.search(r"/results/(key/[^\"]+)\"", held)[1]
    content = eva.get(f"{page}/{name}").text
    assert content.splitlines()[-4:] == ["MATERIAL_BASE-1A_10000002\tY", "MATERIAL_BASE-1A_10000003\tN",
                                         "MATERIAL_BASE-1A_10000004\tY", "MATERIAL_BASE-1A_10000005\tY"]  # fmt: skip
    place = re.search(r'<option value="(CLIR\|[^"]*)"', held)[1]
    assert eva.send(page, place=place, reason="").status_code == 422
    made = eva.send(page, place=place, reason="marked twice, adjudicated")
    assert made.status_code == 200, made.text[:500]
    with bench.office.reading() as session:
        row = session.scalars(select(Reference).order_by(Reference.version.desc())).first()
    assert (row.reason, bool(row.files.get("judged"))) == ("marked twice, adjudicated", True)
    again = eva.send(page, place=place, reason="once more")
    assert "/rescoring" in str(again.url)
    assert "Preview a re-scoring" in again.text
    assert panel


def key_documents():
    return [
        item_of(
            [Block("query", "rain"), Block("document", f"Document {n}.")],
            {"query": "query10001", "document": f"MATERIAL_BASE-1A_1000000{n}"},
            new_id=random_id,
        )
        for n in range(1, 6)
    ]


def test_a_panel_is_closed_opened_again_and_cancelled_with_reasons(visit, bench):
    panel = bench.panel(KEY, documents(2), ["ada"], name="ends")
    eva, page = visit("eva"), f"{DESK}/ends"
    assert "is closed" in eva.send(page, f"{page}/close").text
    assert eva.send(page, f"{page}/reopen", reason="").status_code == 422
    assert "reopened" in eva.send(page, f"{page}/reopen", reason="one more came").text
    assert eva.send(page, f"{page}/cancel", reason="").status_code == 422
    assert "is canceled" in eva.send(page, f"{page}/cancel", reason="wrong items").text
    assert panel_of(bench, "ends").state == "cancelled"
    assert bench.desk(panel, "ada").stage == "closed"


def test_a_panel_of_another_campaign_is_not_there(visit):
    eva = visit("eva")
    for part in ("", "/items", "/judges", "/preview", "/flags", "/pay", "/pay.csv", "/batches", "/results", "/state"):
        assert eva.get(f"{DESK}/nothing-here{part}").status_code == 404, part


def test_judges_and_adjudicators_do_not_reach_the_organisers_pages(visit, bench):
    bench.panel(KEY, documents(2), ["ada"], name="shut")
    for who in ("ada", "zoe"):
        for part in ("", "/shut", "/shut/items", "/shut/pay.csv", "/shut/results"):
            assert visit(who).get(DESK + part).status_code == 403, (who, part)


@pytest.mark.req("P-22")
def test_consent_is_shown_and_when_each_judge_gave_it(visit, bench):
    panel = bench.panel(READABILITY, [passage(1), passage(2)], ["ada:novice"], name="consents")
    page = visit("eva").page(f"{DESK}/consents/judges")
    assert "We time you." in page
    assert ">not yet<" in page
    bench.do(enrolment.consent, Actor(bench.people["ada"]), panel, "7")
    assert ">not yet<" not in visit("eva").page(f"{DESK}/consents/judges")
