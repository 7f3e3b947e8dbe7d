"""Crowd batches that explain themselves, bounds that can hold, and what a panel costs: through `basanite judge`."""

from __future__ import annotations

import csv
import math
import random
import statistics

import pytest
from tests.cli.running import here

SCHEME = 'format = "basanite-judging/1"\nname = "rel"\npreset = "relevance"\nshows = ["query", "domain", "text"]\n'
QUERIES = {
    "music": "The document must contain a translation of the word “music”.",
    '"fishing boat"': "The document must contain a translation of the phrase “fishing boat”.",
    "<trees>": "a translation of “trees” in the same grammatical form",
    '"coconut <trees>"': "a translation of the phrase “coconut trees”, with “trees” in the same grammatical form",
    '"climate change"+': "the concept “climate change”, whatever words it uses",
    "EXAMPLE_OF(fruit)": "any example of “fruit”",
    '"EXAMPLE_OF(fruit) juice"': "the phrase “… juice”, where … is any example of “fruit”",
    'bribing+,"panel of judges"': "both. First: the concept “bribing”, whatever words it uses. Second: a translation",
    "boxing+[evf:sports]": "Here “boxing” belongs to the situation “sports”.",
    '"the (fishing boat) sank"': "The words “fishing boat” belong together.",
}


def table(path, rows):
    """Write rows as a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.req("X-18")
def test_a_batch_explains_each_subtype_of_query_and_the_domain_beside_it(tmp_path):
    (tmp_path / "scheme.toml").write_text(SCHEME)
    rows = [{"query": query, "domain": "GOV", "text": f"Text {at}."} for at, query in enumerate(QUERIES)]
    table(tmp_path / "items.csv", [*rows, {"query": "no <<query", "domain": "made-up", "text": "Other."}])
    made = here(
        "judge", "batch", "export", "scheme.toml", "--items", "items.csv", "--out", "b", "--key", "k", cwd=tmp_path
    )
    assert made.code == 0, made.stderr
    with (tmp_path / "b" / "batch.csv").open(newline="") as file:
        sent = {row["query"]: row for row in csv.DictReader(file)}
    for query, words in QUERIES.items():
        row = sent[query.replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")]
        assert words in row["query_note"]
        assert row["domain"] == "Government And Politics"
        assert "How places and countries are governed" in row["domain_note"]
        assert "police work, courts and the justice system" in row["domain_note"]
    # what the notation and the catalog do not know stands there as it was given
    other = sent["no &lt;&lt;query"]
    assert (other["query_note"], other["domain"], other["domain_note"]) == ("", "made-up", "")
    page = (tmp_path / "b" / "question.xml").read_text()
    assert page.index("${query}") < page.index("${query_note}") < page.index("${domain}") < page.index("${domain_note}")


def test_a_batch_takes_definitions_from_a_catalog_of_ones_own_and_escapes_them(tmp_path):
    (tmp_path / "scheme.toml").write_text(SCHEME)
    (tmp_path / "own.toml").write_text(
        'format = "basanite-domains/1"\n[[domain]]\ncode = "SEA"\nname = "The-Sea"\n'
        'definition = "Ships <b>&</b> fish."\n'
    )
    table(tmp_path / "items.csv", [{"query": "fish", "domain": "SEA", "text": "A text."}])
    words = ("judge", "batch", "export", "scheme.toml", "--items", "items.csv", "--key", "k", "--catalogue", "own.toml")
    assert here(*words, "--out", "b", cwd=tmp_path).code == 0
    sent = (tmp_path / "b" / "batch.csv").read_text()
    assert "The Sea" in sent
    assert "Ships &lt;b&gt;&amp;&lt;/b&gt; fish." in sent


def summaries(queries, of_each):
    """A table of summaries."""
    return [{"query": f"q{q}", "text": f"{q} {at}"} for q in range(queries) for at in range(of_each)]


@pytest.mark.req("M52")
def test_nine_judges_share_sixty_summaries_of_a_query_with_three_votes_within_the_bound_of_the_preset(tmp_path):
    (tmp_path / "scheme.toml").write_text(SCHEME.replace('"domain", ', ""))
    table(tmp_path / "items.csv", summaries(5, 60))
    words = ("judge", "plan", "scheme.toml", "--items", "items.csv")
    enough = here(*words, "--judges", "judge=9", "--out", "p.csv", "--json", cwd=tmp_path)
    assert (enough.code, enough.data["warnings"]) == (0, [])
    met: dict[tuple[str, str], int] = {}
    with (tmp_path / "p.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            met[row["judge"], row["query"]] = met.get((row["judge"], row["query"]), 0) + 1
    assert set(met.values()) == {20}
    short = here(*words, "--judges", "judge=8", "--json", cwd=tmp_path)
    assert short.code == 1
    first = short.data["warnings"][0]
    assert "more than 20 times: 180 judgments for 8 judges" in first["message"]
    assert "enroll more judges, 9 or more" in first["fix"]


def test_the_cost_of_a_design_is_that_of_its_judgments_checks_training_and_fee(tmp_path):
    text = SCHEME.replace('"domain", ', "") + '[pay]\nper_item = 0.1\ncurrency = "EUR"\n[training]\ncount = 5\n'
    (tmp_path / "scheme.toml").write_text(text)
    words = ("judge", "cost", "scheme.toml", "--queries", "20,40", "--per-query", "60", "--votes", "1,3")
    made = here(*words, "--accuracy", "0.8", "--fee", "0.2", "--seconds", "36", "--json", cwd=tmp_path)
    assert made.code == 0, made.stderr
    last = made.data["designs"][-1]
    # 40 x 60 x 3 real ones, 5 % hidden checks, 9 judges with 5 items of training
    assert (last["judges"], last["judgements"]) == (9, 7200 + 360 + 45)
    assert last["hours"] == pytest.approx(7605 / 100)
    assert last["cost"] == pytest.approx(760.5 * 1.2)
    assert last["majority"] == pytest.approx(0.8**3 + 3 * 0.8**2 * 0.2)
    assert last["half_width"] == pytest.approx(1.959964 * math.sqrt((0.04 + (0.09 + 0.03) / 60) / 40), rel=1e-6)
    hours = here(*words, "--hours-each", "5", "--seconds", "36", "--json", cwd=tmp_path)
    assert hours.data["designs"][-1]["judges"] == math.ceil(7560 / 100 / 5)


def pilot(rng, queries, items, votes):
    """Judgments with known spreads: 1 between queries, 2 between items, 3 between judges."""
    for q in range(queries):
        of_query = rng.gauss(50, 10)
        for at in range(items):
            of_item = rng.gauss(of_query, 20)
            for judge in range(votes if at % 3 else 2):
                answer = rng.gauss(of_item, 30)
                yield {"item": f"{q}-{at}", "judge": judge, "query": q, "seconds": 12 + judge, "score": answer}


def test_a_pilot_gives_back_the_spreads_that_its_judgments_were_drawn_with(tmp_path):
    text = 'format = "basanite-judging/1"\nname = "s"\npreset = "slider"\nper_item = 2\n'
    text += '[[questions]]\nid = "score"\nwidget = "slider"\ntitle = "How good?"\nlo = -1000\nhi = 1000\n'
    (tmp_path / "scheme.toml").write_text(text)
    table(tmp_path / "pilot.csv", list(pilot(random.Random(1), 150, 12, 4)))
    words = ("judge", "cost", "scheme.toml", "--queries", "150", "--per-query", "12", "--votes", "4")
    made = here(*words, "--pilot", "pilot.csv", "--json", cwd=tmp_path)
    assert made.code == 0, made.stderr
    spreads = made.data["spreads"]
    assert spreads["queries"] == pytest.approx(10, rel=0.2)
    assert spreads["items"] == pytest.approx(20, rel=0.1)
    assert spreads["judges"] == pytest.approx(30, rel=0.05)
    assert spreads["seconds"] in (13.0, 13.5)
    # the half-width is that of means over queries that are really drawn so
    rng = random.Random(2)
    means = [
        statistics.fmean(
            statistics.fmean(rng.gauss(middle, math.hypot(20, 15)) for _ in range(12))
            for middle in (rng.gauss(50, 10) for _ in range(150))
        )
        for _ in range(300)
    ]
    assert made.data["designs"][0]["half_width"] == pytest.approx(1.96 * statistics.stdev(means), rel=0.25)


def test_the_accuracy_of_a_judge_follows_from_how_often_two_agree(tmp_path):
    (tmp_path / "scheme.toml").write_text(SCHEME.replace('"domain", ', ""))
    rng, rows = random.Random(3), []
    for at in range(600):
        relevant = rng.random() < 0.3
        for judge in range(3):
            answer = "R" if relevant == (rng.random() < 0.85) else "N"
            rows.append({"item": at, "judge": judge, "query": at % 20, "seconds": 20, "verdict": answer})
    table(tmp_path / "pilot.csv", rows)
    words = ("judge", "cost", "scheme.toml", "--queries", "20", "--per-query", "30", "--pilot", "pilot.csv", "--json")
    assert here(*words, cwd=tmp_path).data["accuracy"] == pytest.approx(0.85, abs=0.03)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verdict": "maybe"}, "pilot.csv:2: verdict cannot be read"),
        ({"seconds": "soon"}, "pilot.csv:2: seconds cannot be read"),
        ({"query": ""}, "pilot.csv:2: query cannot be read"),
    ],
)
def test_a_bad_line_of_a_pilot_is_named(tmp_path, change, words):
    (tmp_path / "scheme.toml").write_text(SCHEME)
    table(tmp_path / "pilot.csv", [{"item": 1, "judge": 1, "query": 1, "seconds": 2, "verdict": "R", **change}])
    command = ("judge", "cost", "scheme.toml", "--queries", "20", "--per-query", "30", "--pilot", "pilot.csv")
    ended = here(*command, cwd=tmp_path)
    assert ended.code == 1
    assert words in ended.stderr


def test_a_pilot_with_one_vote_of_each_item_is_refused_and_so_are_numbers_that_are_none(tmp_path):
    (tmp_path / "scheme.toml").write_text(SCHEME)
    rows = [{"item": at, "judge": 1, "query": at % 2, "seconds": 2, "verdict": "R"} for at in range(4)]
    table(tmp_path / "pilot.csv", rows)
    command = ("judge", "cost", "scheme.toml", "--per-query", "30", "--queries")
    thin = here(*command, "20", "--pilot", "pilot.csv", cwd=tmp_path)
    assert (thin.code, "items with two judgments or more" in thin.stderr) == (2, True)
    assert "joined by commas" in here(*command, "20,x", cwd=tmp_path).stderr
