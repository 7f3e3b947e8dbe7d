"""The reason beside the verdict, and one sign on a page (S-29): commands and reports."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from html import unescape

import pytest
from tests.cli.running import ROOT, here

import basanite

CLIR = ROOT / "examples" / "clir"
RANKED_LAST_FIRST = ("--submission", "Gamma.tgz", "--submission", "Beta.tgz", "--submission", "Alpha.tgz")


def compared(*words):
    found = here("compare", "clir", "--reference", "key", *RANKED_LAST_FIRST, *map(str, words), cwd=CLIR)
    assert found.code == 0, found.stderr
    return found


def on_accuracy(folder, wrong, **settings):
    """How systems compare that are wrong on these of forty items."""
    right = ["ab"[number % 2] for number in range(40)]
    made = {
        "key": right,
        **{name: [x if n not in at else "ab"[x == "a"] for n, x in enumerate(right)] for name, at in wrong.items()},
    }
    for name, labels in made.items():
        lines = ["id,label", *(f"i{number:03},{label}" for number, label in enumerate(labels))]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    given = {"reference": folder / "key.csv", "metrics": ["accuracy"], "primary": "accuracy", "draws": 200}
    runs = {name: folder / f"{name}.csv" for name in wrong}
    return basanite.compare("classification", submissions=runs, **given, **settings).differences


@pytest.mark.req("S-29")
def test_an_undecided_verdict_says_its_own_reason_with_its_numbers():
    data = compared("--json").data
    told = {(one["metric"], one["first"], one["second"]): one for one in data["differences"]}
    queries = told["aqwv", "Gamma", "Alpha"]
    (dominated, adjusted) = queries["reasons"]
    assert (dominated["kind"], dominated["unit"]) == ("dominated", "query29922")
    assert f"{100 * dominated['share']:.0f}% of the squared differences come from query29922" in queries["note"]
    assert (adjusted["kind"], adjusted["pairs"], adjusted["p"]) == ("adjusted", 3, queries["p"])
    apart = [one for one in data["differences"] if "disagree" in {why["kind"] for why in one["reasons"]}]
    assert apart, "one pair of the example has a p and an interval that disagree"
    for one in apart:
        (why,) = (why for why in one["reasons"] if why["kind"] == "disagree")
        assert (why["p"] <= why["alpha"]) == (why["low"] <= 0 <= why["high"])
        assert f"p {why['p']:.3g}" in one["note"]
        assert f"{why['low']:.4g} to {why['high']:.4g}" in one["note"]


@pytest.mark.req("S-29")
def test_no_reason_is_given_that_does_not_hold():
    for one in compared("--json").data["differences"]:
        kinds = {why["kind"] for why in one["reasons"]}
        assert bool(kinds - {"adjusted"}) == (one["verdict"] == "undecided"), one
        assert ("adjusted" in kinds) == (one["p"] is not None and one["p"] <= 0.05 < one["p_adjusted"]), one


@pytest.mark.req("S-29")
def test_too_few_units_are_counted(tmp_path):
    (pair,) = on_accuracy(tmp_path, {"good": range(7), "weak": range(10)})
    (why,) = (why for why in pair.reasons if why.kind == "few")
    assert (why.figures["differing"], why.figures["among"], why.figures["smallest_p"]) == (3, 40, 0.25)
    assert "only 3 of 40 units differ, so no adjusted p below 0.25 is possible" in pair.note


@pytest.mark.req("S-29")
def test_a_p_that_only_the_adjustment_makes_large_stands_beside_an_interval_without_0_with_its_reason(tmp_path):
    wrong = {"A": range(4), "B": range(3, 17), "C": range(12, 25), "D": range(20, 32)}
    lost = [one for one in on_accuracy(tmp_path, wrong) if one.verdict == "no difference shown" and one.p <= 0.05]
    assert lost
    for one in lost:
        assert one.low > 0, "the interval beside it excludes 0"
        assert "for 6 pairs, but the interval is for this pair alone" in one.note


@pytest.mark.req("S-29")
def test_a_decided_verdict_and_one_that_shows_nothing_print_p_and_interval(tmp_path):
    on_accuracy(tmp_path, {"weak": range(20), "good": range(2)})
    words = ("compare", "classification", "--reference", "key.csv", "--primary", "accuracy")
    runs = ("--submission", "weak.csv", "--submission", "good.csv")
    better = here(*words, *runs, cwd=tmp_path).stdout.replace("\n", " ")
    assert re.search(
        r"good is significantly better than weak, by 0\.4500 \(adjusted p \S+, interval of weak minus good -\S+ to -",
        better,
    )


@pytest.mark.req("S-29")
def test_a_difference_has_one_sign_in_every_table_of_every_report(tmp_path):
    names = ("all.html", "all.pptx", "all.tex", "all.txt", "all.csv")
    printed = compared(*(word for name in names for word in ("--report", tmp_path / name)), "--draws", "200").stdout
    gaps = {
        f"{abs(one['difference']):.4f}": one["difference"] > 0
        for one in compared("--json", "--draws", "200").data["differences"]
        if one["metric"] == "aqwv"
    }
    assert gaps
    with zipfile.ZipFile(tmp_path / "all.pptx") as deck:
        slides = "".join(deck.read(name).decode() for name in deck.namelist() if name.startswith("ppt/slides/slide"))
    texts = {name: (tmp_path / name).read_text(encoding="utf-8") for name in names if name != "all.pptx"}
    rows = [
        row for row in csv.DictReader(io.StringIO(texts.pop("all.csv"))) if row["against"] and row["metric"] == "aqwv"
    ]
    assert {(f"{abs(float(row['value'])):.4f}", float(row["value"]) > 0) for row in rows} == set(gaps.items())
    for text in (re.sub(r"as observed \(\S+\)", "", one) for one in (printed, slides, *texts.values())):
        for size, positive in gaps.items():
            signs = set(re.findall(rf"([-+−]?|\$-\$|\\textminus ?){re.escape(size)}(?!\d)", unescape(text)))
            assert signs, size
            assert signs <= ({"", "+"} if positive else {"-", "−", "$-$", "\\textminus "}), (size, signs)
    assert printed.count("first minus second") == 1
    assert "Row minus column" not in printed
