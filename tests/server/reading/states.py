"""The pages of reading in the states that must look right."""

from __future__ import annotations

from tests.server.pages.states import NOW, count, name

from basanite.campaign.work.reading.adjudication import Excerpt, Said
from basanite.campaign.work.reading.fulltext import Hit
from basanite.campaign.work.reading.people import Own
from basanite.server.pages import reading, reading_gold, reading_question

REPORT = "CHICAGO, Oct. 8 - The Bears defeated the Packers, 27-20. It was late. "
BASE = "/campaigns/small/reading"


def text_of(state):
    return f"{REPORT}{name(state)}. {REPORT}" * (60 if state == "many" else 1)


def home_page(state):
    tasks = tuple(
        reading.ToAnswer(name(state), name(state), 26, 12, f"{BASE}/answer/t") for _ in range(min(count(state), 60))
    )
    found = tuple(
        reading.ToSettle(name(state), 3, 4, 9, f"{BASE}/adjudicate/p", f"{BASE}/gold/p")
        for _ in range(min(count(state), 60))
    )
    return reading.HomePage("Reading", tasks, found, True, True)


def question_page(state):
    text, some = text_of(state), min(count(state), 60)
    own = tuple(
        Own(f"a{at}", (("G", (name(state), "Bears v Packers")), ("P", ("27",))), "explicit", ({"exact": name(state)},))
        for at in range(some)
    )
    hit = Hit(name(state), "test", 3, 9, "before ", name(state), " after", 2, 1.5)
    return reading_question.QuestionPage(
        "Question 3 of 312",
        name(state),
        name(state),
        text,
        tuple(reading_question.pieces_of(text, ((0, 56),))),
        (
            reading_question.Variable("G", name(state), False, name(state)),
            reading_question.Variable("P", "points", True, "27"),
        ),
        own,
        state == "one",
        3,
        312,
        2,
        f"{BASE}/answer/t",
        f"How many points did {name(state)} score?",
        name(state),
        "final-scores",
        f"{BASE}/answer/t?before" if some else "",
        f"{BASE}/answer/t?after" if some else "",
        "auto",
        ((0, 56),) if some else (),
        name(state) if some else "",
        tuple((hit, f"{BASE}/answer/t") for _ in range(min(some, 20))),
    )


def case_page(state):
    if state == "none":
        return reading.CasePage("No requests waiting", "", f"{BASE}/adjudicate/p", 0, 4, 9)
    text, some = text_of(state), min(count(state), 60)
    excerpt = Excerpt("CHICAGO, Oct. 8 - ", name(state), " defeated", 18, 27, True)
    said = Said("s", (("G", (name(state),)), ("P", ("27",))), "explicit", "correct", True)
    step = reading.Step("Wrong", name(state), name(state), NOW)
    return reading.CasePage(
        "Is this answer right?",
        name(state),
        f"{BASE}/adjudicate/p",
        3,
        4,
        9,
        "id",
        f"How many points did {name(state)} score?",
        name(state),
        (("G", (name(state), "Bears v Packers")), ("P", ("27",))),
        "inferred",
        (excerpt,) * some,
        tuple((Said(f"s{at}", said.values, "explicit", "correct", at % 2 == 0), "Correct") for at in range(some)),
        tuple(reading.runs_of(text, (excerpt,))),
        "Wrong" if state == "one" else "",
        (step,) * some,
        some,
        "next",
        name(state),
    )


def gold_page(state):
    some = min(count(state), 60)
    line = reading_gold.RunLine(name(state), name(state), 0.61, 0.64, 0.6, 0.12, None, True)
    return reading_gold.GoldPage(
        name(state),
        f"{BASE}/gold/p",
        f"{BASE}/adjudicate/p",
        "read" if some else "",
        3,
        4,
        9,
        50,
        tuple(reading_gold.VersionLine(f"v{at}", "active", at, name(state), name(state), NOW) for at in range(some)),
        tuple(reading_gold.TaskLine(f"t{at}", name(state), 12, 26, NOW) for at in range(some)),
        ((name(state), name(state)),),
        "g" if some else "",
        "v3",
        state == "one",
        (line, reading_gold.RunLine(name(state), "x", None, None, None, None, None, False)) * some,
        name(state),
        ((name(state), name(state)),) * min(some, 3),
        name(state),
        name(state),
    )


ALL = {
    reading.HomePage: home_page,
    reading_question.QuestionPage: question_page,
    reading.CasePage: case_page,
    reading_gold.GoldPage: gold_page,
}
