"""The judge's pages in the states that must look right."""

from __future__ import annotations

from dataclasses import replace

from tests.server.pages.states import count, name

from basanite.server.pages import judge, judge_desk, judge_items
from basanite.server.pages.judge import At
from basanite.server.pages.judge_desk import Compared
from basanite.server.pages.judge_questions import hints, instructions_markup, keyed_flags, question_fields, shown_blocks
from basanite.work.items import Block
from basanite.work.scheme import read_scheme

BASE = "/campaigns/small/judging/first"
WAYS = {"rtl": ("ar", "rtl"), "scripts": ("am", "ltr")}
KINDS = {
    "one": "relevance",
    "rtl": "mqm",
    "long": "pairwise",
    "scripts": "esa",
    "hostile": "esa",
    "none": "readability",
}
"""Which kind of judging a state shows: all widgets have their turn."""
EVERY = """
[combine]
rule = "raw"
[adjudicate]
when = "never"
[[questions]]
id = "stars"
widget = "stars"
title = "Easy?"
[[questions]]
id = "sure"
widget = "scale"
title = "Sure?"
lo = 0
hi = 10
required = false
[[questions]]
id = "why"
widget = "text"
title = "Why?"
required = false
"""


def scheme_of(preset, more=""):
    text = f'format = "basanite-judging/1"\nname = "x"\npreset = "{preset}"\n{more}'
    made, problems = read_scheme(text, "x.toml")
    assert made is not None, problems
    return made


def blocks(state, preset):
    """An item of the kind, in the words of the state."""
    lang, way = WAYS.get(state, ("en", "ltr"))
    text = Block("text", f"{name(state)} 🌉\r\n{name(state)}", name(state) if state == "hostile" else "", lang, way)
    told_by_system = Block("instructions", f"<b>{name(state)}</b> <font color='white'>hidden</font>", "component_1")
    if preset == "relevance":
        image = Block("image", "0123456789abcdef0123")
        return (Block("query", name(state), "", lang, way), Block("domain", "GOV"), image, told_by_system)
    if preset == "pairwise":
        return (Block("query", name(state)), replace(text, title="Left"), replace(text, title="Correct"))
    document = Block("document", name(state) * 40, "Source", lang, way)
    return (text,) if preset in ("readability", "likert") else (document, text, told_by_system)


def at(state):
    return At(name(state), BASE, "Round 1 of 2, item 3 of 10 · 2 of 20 done", 2, 20)


def item_page(state):
    preset = KINDS.get(state, "likert")
    scheme = scheme_of(preset, EVERY if preset == "likert" else "")
    shown, given = blocks(state, preset), {}
    if preset in ("mqm", "esa"):
        given = {"errors": [{"start": 0, "end": 3, "category": "Style", "severity": "minor"}], "score": 55.0}
    questions = question_fields(scheme, given, shown)
    flags = keyed_flags(scheme, questions)
    return judge_items.ItemPage(
        "Item 3 of 10",
        at(state),
        "a" * 20,
        "key",
        shown_blocks(scheme, shown, BASE),
        questions,
        flags,
        (flags[0].value,) if flags else (),
        state == "none",
        state == "error",
        state == "one",
        state in ("one", "hostile"),
        instructions_markup(name(state)),
        tuple(hints(questions, flags, again=False, back=True)),
    )


def feedback_page(state):
    compared = tuple(Compared(name(state), "2", "4 to 5", number % 2 == 0) for number in range(min(count(state), 20)))
    shown = shown_blocks(scheme_of("readability"), blocks(state, "readability"), BASE)
    return judge_desk.FeedbackPage("Not as expected", at(state), shown, compared, (("Enter", "continue"),))


def rank_page(state):
    scheme = scheme_of("readability")
    rows = []
    for number in range(1, {"none": 0, "one": 10, "many": 50}.get(state, 3) + 1):
        block = shown_blocks(scheme, blocks(state, "readability"), BASE)[0]
        rows.append(judge_items.Ranked(f"i{number}", f"Item {number}", number, block, "★★★☆☆", "3 stars"))
    keys = (("J K", "move"), ("Enter", "save this ranking"))
    return judge_items.RankPage("Rank the 10 items", at(state), 1, "key", tuple(rows), state == "one", keys)


def home_page(state):
    lines = tuple(
        judge.Line(
            name(state), name(state), BASE, "2 of 20 done", 2, 20, "Continue judging", number % 2 == 0, "good", "open"
        )
        for number in range(min(count(state), judge.MOST))
    )
    return judge.HomePage("My judging", lines, max(0, count(state) - judge.MOST))


def declare_page(state):
    teams = tuple(
        judge_desk.TeamLine(f"t{number}", name(state), number == 1) for number in range(min(count(state), 500))
    )
    known = () if state == "none" else (("1A", True), (name(state)[:40], False))
    return judge_desk.DeclarePage("Languages and conflicts of interest", at(state), known, name(state), teams)


PAY = (("Items", "12"), ("Time", "1 h 5 min"), ("Pay", "6.00 EUR"))


def consent_page(state):
    return judge_desk.ConsentPage("Your consent", at(state), "1", name(state), (("Pay", "0.50 EUR per item"),))


def criteria_page(state):
    return judge_items.CriteriaPage(
        "What were your criteria?", at(state), 1, "key", "" if state == "none" else name(state)
    )


def rest_page(state):
    return judge_desk.RestPage("Round 1 complete", at(state), "Have a drink.", "Next round")


def about_page(state):
    pay = () if state == "none" else PAY
    return judge.AboutPage(
        "About this panel", at(state), instructions_markup(name(state)), "1", name(state), pay, state != "error"
    )


def end_page(state):
    return judge_desk.EndPage(
        "You have finished", at(state), "You judged all 20 items.", () if state == "none" else PAY
    )


ALL = {
    judge.HomePage: home_page,
    judge_desk.ConsentPage: consent_page,
    judge_desk.DeclarePage: declare_page,
    judge_items.ItemPage: item_page,
    judge_desk.FeedbackPage: feedback_page,
    judge_items.RankPage: rank_page,
    judge_items.CriteriaPage: criteria_page,
    judge_desk.RestPage: rest_page,
    judge.AboutPage: about_page,
    judge_desk.EndPage: end_page,
}
