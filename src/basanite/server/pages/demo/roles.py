"""Who can be somebody in the demo's tour, and what there is to try as them: words and addresses, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from basanite.server.catalogue import sentence

SITE: Final = ("/account/", "/api/", "/demo/")
"""Addresses that belong to no campaign begin like this."""


@dataclass(frozen=True)
class Step:
    """Something to try, and where."""

    text: str
    address: str
    """Below the campaign's own, unless it is one of the whole site."""

    def under(self, base: str) -> str:
        """The whole address.

        >>> Step("", "/team").under("/campaigns/demo"), Step("", "/account/tokens").under("/campaigns/demo")
        ('/campaigns/demo/team', '/account/tokens')
        """
        return self.address if self.address.startswith(SITE) else f"{base}{self.address}"


@dataclass(frozen=True)
class Role:
    """Somebody to be; without a key it is nobody in particular."""

    key: str
    title: str
    about: str
    steps: tuple[Step, ...]
    mail: str = ""


ROLES: Final = (
    Role(
        "",
        sentence("You manage a programme"),
        sentence("You want to know who is ahead, by how much, and whether that is sure. Nobody asks you to sign in."),
        (
            Step(sentence("Who won the first evaluation week?"), "/leaderboard?of=week-1|CLIR|1A|"),
            Step(sentence("Who describes images best?"), "/leaderboard?of=captions|captions|1A|"),
            Step(sentence("What was promised beforehand, and what was changed?"), "/plan"),
        ),
    ),
    Role(
        "ben",
        sentence("You take part"),
        sentence("Ben works on the systems of team Alder."),
        (
            Step(sentence("See why a file was refused, line by line, and what came of the others."), "/submissions"),
            Step(sentence("Hand something in: any file will do, and the reasons come back."), "/submit"),
            Step(sentence("Hold your own runs against each other."), "/compare"),
        ),
    ),
    Role(
        "ada",
        sentence("You lead a team"),
        sentence("Ada is the PI of team Alder: she signs, appeals and lets people in."),
        (
            Step(sentence("Emil asks for a place. Let him in."), "/team"),
            Step(sentence("See what you may submit now, and how many are left."), ""),
        ),
    ),
    Role(
        "jana",
        sentence("You judge"),
        sentence("Jana reads passages and gives stars. She sees neither whose text it is nor what others said."),
        (Step(sentence("Read ten passages, then put them in order."), "/judging"),),
    ),
    Role(
        "nora",
        sentence("You annotate"),
        sentence("Nora marks what reports of football games say: teams, scores, who won."),
        (
            Step(sentence("Four reports wait. Mark one, with the mouse or by keys alone."), "/annotate"),
            Step(sentence("Answer questions about the reports, with evidence."), "/reading"),
        ),
    ),
    Role(
        "aino",
        sentence("You adjudicate"),
        sentence("Aino decides where judges or annotators differ, and says why."),
        (
            Step(sentence("Two annotators read one report differently: decide."), "/annotate/decide"),
            Step(sentence("Two people marked a key and disagree on some documents."), "/adjudicate"),
            Step(sentence("Decide which of a system's answers about the reports are right."), "/reading"),
        ),
    ),
    Role(
        "eva",
        sentence("You evaluate"),
        sentence("Eva leads the evaluation. Acts that could do harm take a second person."),
        (
            Step(sentence("See what waits for you."), "/organise"),
            Step(sentence("Follow how the gold grew by a version, and what it changed."), "/organise/rescoring"),
            Step(sentence("See how far judges agree, and what they are owed."), "/organise/judging"),
            Step(sentence("See how far annotators agree."), "/organise/annotation"),
        ),
    ),
    Role(
        "oscar",
        sentence("You administer"),
        sentence("Oscar runs the server, and is the second of two people."),
        (
            Step(sentence("Two acts wait for a second organiser. Agree, or refuse."), "/organise/approvals"),
            Step(sentence("Read the audit trail: every step with its hash."), "/organise/log"),
        ),
    ),
    Role(
        "chidi",
        sentence("You program"),
        sentence("Chidi leads team Cedar, and lets a script hand in what comes out of the night's run."),
        (
            Step(sentence("Make a token that may submit and nothing else."), "/account/tokens"),
            Step(sentence("Read the description of the interface for programs."), "/api/v1/openapi.json"),
        ),
    ),
)
