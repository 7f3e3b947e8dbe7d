"""The end of a panel for one judge: done, closed, stopped, or not begun yet; with thanks and the own pay (P-22)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from basanite.campaign.panels.attending import working
from basanite.server.catalogue import plural, say, sentence
from basanite.server.pages.judging.money import Lines, own_statement
from basanite.server.pages.judging.place import At, at_of
from basanite.server.roles import Caller

ENDED = {
    "closed": (sentence("The panel is closed"), sentence("Thank you for your work. What you sent is kept.")),
    "cancelled": (
        sentence("The panel was cancelled"),
        sentence("It will not be used. What you did is kept and paid all the same."),
    ),
    "withdrawn": (sentence("You have stopped"), sentence("Thank you for what you did. Nothing more is asked of you.")),
    "removed": (
        sentence("Your part has ended"),
        sentence("An organiser has ended it. What you did is kept and paid all the same."),
    ),
    "precise": (
        sentence("That is enough: thank you"),
        sentence("The result is known as precisely as was planned, so no new items are given out. Your work is kept."),
    ),
    "draft": (sentence("Not yet"), sentence("Everything is set. You get a mail as soon as the judging begins.")),
}


@dataclass(frozen=True)
class EndPage:
    """Nothing to judge here, and why."""

    title: str
    at: At
    words: str
    pay: Lines = ()
    back: bool = False
    """Whether the last answer can still be corrected."""


def end_page(session: Session, caller: Caller, found: working.Desk) -> EndPage:
    """The page of a desk with nothing on it."""
    pay = own_statement(session, caller, found.panel_id, found.scheme.pay)
    if found.stage == "done" and not found.of:
        return EndPage(say("Nothing for you yet"), at_of(caller, found), say("You get a mail when there is."), pay)
    if found.stage == "done":
        words = plural(found.done, "You judged {count} item.", "You judged all {count} items.")
        return EndPage(say("That was all: thank you"), at_of(caller, found), words, pay, bool(found.last))
    heading, sentences = ENDED[found.why]
    return EndPage(say(heading), at_of(caller, found), say(sentences), pay)
