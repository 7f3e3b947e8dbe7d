"""Coreference in the columns of CoNLL-2012 and in CorefUD, by the command."""

from __future__ import annotations

import pytest
from tests.cli.running import here
from tests.doors.examples import EXAMPLES

import basanite


def columns(*marks, name="bn/x"):
    """A document of one sentence with these marks."""
    rows = "".join(f"{name}\t0\t{at}\tw{at}\tNN\t{mark}\n" for at, mark in enumerate(marks))
    return f"#begin document ({name}); part 000\n{rows}\n#end document\n"


def universal(*marks, nodes=(), name="d"):
    """A document of CorefUD with these marks; an empty node follows each word of `nodes`."""
    rows = ""
    for at, mark in enumerate(marks, start=1):
        rows += "\t".join([str(at), f"w{at}", *"____", str(int(at > 1)), "dep", "_", mark or "_"]) + "\n"
        if at in nodes:
            rows += "\t".join([f"{at}.1", "_", *"______", "_", f"Entity=({name}e9-x-1)"]) + "\n"
    return f"# global.Entity = eid-etype-head\n# newdoc id = {name}\n{rows}\n"


@pytest.fixture
def run(tmp_path):
    def command(name, gold, given, *words):
        (tmp_path / "gold").write_text(gold)
        (tmp_path / "given").write_text(given)
        files = ("--reference", "gold", "--submission", "given", *words, "--json")
        return here(name, "coreference", *files, cwd=tmp_path).data

    return command


def values(shown):
    return {name: value["value"] for name, value in shown["values"].items()}


GOLD = columns("(0)", "(1", "1)|(0)", "-", "(1)")


@pytest.mark.req("T-19")
def test_mentions_of_one_word_and_of_several_are_read_with_all_that_end_there(run):
    shown = values(run("score", GOLD, columns("(7)", "(3", "3)|(7)", "-", "(3)")))
    assert set(shown.values()) == {1}  # numbers of entities need not be the same


@pytest.mark.req("T-19")
def test_nothing_in_common_is_0_and_singletons_count_as_a_setting_says(run):
    apart = values(run("score", GOLD, columns("-", "(0)", "-", "(0)", "-")))
    assert {name: apart[name] for name in ("conll", "muc", "b3", "lea", "mentions")} == dict.fromkeys(
        ("conll", "muc", "b3", "lea", "mentions"), 0
    )
    single = columns("(0)", "-", "(0)", "(2)", "-")
    with_them = values(run("score", single, columns("(0)", "-", "(0)", "-", "-")))
    without = values(run("score", single, columns("(0)", "-", "(0)", "-", "-"), "--set", "singletons=no"))
    assert (with_them["muc"], without["muc"]) == (1, 1)
    assert with_them["b3"] < 1 == without["b3"]


@pytest.mark.req("T-19")
def test_without_any_link_muc_is_undefined_and_counts_0_in_the_mean(run):
    shown = values(run("score", columns("(0)", "(1)"), columns("(0)", "(1)")))
    assert (shown["muc"], shown["b3"], shown["conll"]) == (None, 1, pytest.approx(2 / 3))


@pytest.mark.req("T-19")
def test_a_mention_marked_twice_counts_the_first_time_and_is_warned_of(run):
    twice = columns("(0)|(1)", "(1", "1)|(0)", "-", "(1)")
    assert set(values(run("score", GOLD, twice)).values()) == {1}
    (problem,) = run("validate", GOLD, twice)["problems"]
    assert (problem["severity"], problem["line"]) == ("warn", 2)


FAULTS = {
    "never ends": (columns("(0", "(1", "1)", "-", "(1)"), "a mention of entity 0 begins here and never ends"),
    "did not begin": (columns("(0)", "(1", "1)|2)", "-", "(1)"), "entity 2 ends here and did not begin"),
    "a mark": (columns("(x)", "-", "-", "-", "-"), "'(x)' marks no entity"),
    "a word less": (columns("(0)", "-", "-", "-"), "sentence 1 of document '(bn/x); part 000' has other words"),
    "another document": (columns("-", name="bn/y"), "none of your 1 items is in the reference"),
    "trees": ("(S (NP (NN rain)) (VP (VBZ helps)))\n", "bracketed trees"),
    "text": ("It rains.\n", "no file of coreference"),
    "nothing": ("", "the file is empty"),
    "a word outside": (f"x\ty\n{GOLD}".replace("#begin", "#begin", 1), "no file of coreference"),
    "CorefUD": (universal("Entity=(e1-x-1)", "", "", "", "", name="(bn/x); part 000"), "one file is CorefUD"),
}


@pytest.mark.req("T-19", case="bad")
@pytest.mark.parametrize("name", FAULTS)
def test_what_cannot_be_scored_is_one_problem_with_a_fix(run, name):
    content, message = FAULTS[name]
    shown = run("validate", GOLD, content)
    assert (shown["valid"], shown["total"]) == (False, 1), shown["problems"]
    assert message in shown["problems"][0]["message"]
    assert shown["problems"][0]["fix"]


TWO = ("Entity=(e1-x-2", "Entity=e1)", "", "Entity=(e1-x-1)", "")


@pytest.mark.req("T-19")
def test_mentions_of_corefud_match_by_their_heads_or_exactly(run):
    given = universal("", "Entity=(e5-x-1)", "", "Entity=(e5-x-1)", "")
    assert values(run("score", universal(*TWO), given))["conll"] == 1
    assert values(run("score", universal(*TWO), given, "--set", "match=exact"))["mentions"] == 0.5


@pytest.mark.req("T-19")
def test_pieces_and_empty_nodes_are_words_and_several_antecedents_are_told(run):
    pieces = ("Entity=(e1[1/2]-x-1)", "Entity=(de9-x-1)", "Entity=(e1[2/2]-x-1)", "Entity=(e1-x-1)", "SplitAnte=e1<e3")
    gold = universal(*pieces, nodes=(4,))
    shown = run("score", gold, gold)
    assert set(values(shown).values()) == {1}
    moved = universal(*pieces, nodes=(5,))
    assert values(run("score", gold, moved, "--set", "singletons=yes"))["mentions"] == 0.75
    told = run("validate", gold, gold)
    assert any("SplitAnte" in one["message"] for one in told["problems"])


@pytest.mark.req("T-19", case="bad")
def test_a_broken_mark_of_corefud_is_told_with_its_line(run):
    for marks, message in (
        (("Entity=(e1-x-1", "", "", "", ""), "never ends"),
        (("Entity=e1)", "", "", "", ""), "did not begin"),
        (("Entity=e1", "", "", "", ""), "marks no entity"),
    ):
        shown = run("validate", universal(*TWO), universal(*marks))
        assert (shown["valid"], shown["problems"][0]["line"]) == (False, 3)
        assert message in shown["problems"][0]["message"]


@pytest.mark.req("T-19")
def test_the_example_has_values_by_document_and_genre():
    place = EXAMPLES / "coreference"
    found = basanite.score("coreference", reference=place / "gold.conll", submission=place / "Beta.conll")
    assert found.units("conll")[0]["document"] == "(story/d01); part 000"
    assert set(found.breakdowns["genre"]) == {"letter", "news", "story"}
    assert set(found.values["b3"].parts) == {"precision", "recall"}
    assert found.values["conll"].low < found.values["conll"].value < found.values["conll"].high
