"""The demo's part on machine reading: answers held against people's, a derivation to open, and a contradiction.

It needs the example of football reports, which lies in the source tree and in the wheel, and the extra `reading`. Where
one of them is missing, the demo says so and goes on.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from basanite import spine
from basanite.demo.examples import INSTALL, NEEDED, NO_EXAMPLE, examples
from basanite.interface import Work
from basanite.reports.outputs import write
from basanite.tasks import Inputs

if TYPE_CHECKING:
    from basanite.reading.reasoner.session import Session

PACKAGE: Final = "reading/nfl"
RULES: Final = f"{PACKAGE}/rules/scoring.rules"
ANNOTATIONS: Final = f"{PACKAGE}/annotations/train.ndjson"
DOCUMENT: Final = "nfl-013"
DERIVED: Final = "game-013 gameWinner LosAngelesChargers"
WRONG: Final = ("nfl:game-013", "nfl:numberOfPeriods", "4")


class Guide(Protocol):
    """Whoever shows around: works in `folder`, talks of `out`, and tells commands."""

    folder: Path
    out: Path

    def say(self, words: str, /) -> None:
        """Say something."""

    def command(self, *words: str, **paths: str | tuple[str, ...]) -> None:
        """Show the command that does by hand what follows."""


def show_reading(guide: Guide) -> None:
    """Score the example's baseline against people, then show a derivation and a contradiction."""
    guide.say("8. Machine reading: what do reports of football games say, and what follows from it?")
    example, missing = example_folder(), [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        guide.say(f"   Left out: it needs {' and '.join(missing)}. Install them: {INSTALL}\n")
    elif example is None:
        guide.say(f"   Left out: {NO_EXAMPLE}\n")
    else:
        shutil.copytree(example, guide.folder / PACKAGE)
        _score(guide)
        _derivation(guide)
        _contradiction(guide)
        guide.say("")


def example_folder() -> Path | None:
    """The football example."""
    found = examples()
    return found.package if found else None


def _score(guide: Guide) -> None:
    """Score the answers of the baseline beside those that stand for people's."""
    page = "reading.html"
    names = {
        role: f"{PACKAGE}/answers/{name}.ndjson" for role, name in (("submission", "baseline"), ("human", "human"))
    }
    guide.command("score", "reading", reference=PACKAGE, **names, report=page)
    paths = {role: guide.folder / name for role, name in names.items()}
    work = Work("reading", {})
    inputs = Inputs(paths["submission"], guide.folder / PACKAGE, human=paths["human"])
    report = spine.report(work.task, work.analysis(inputs, system="baseline"))
    write(report, guide.folder / page)
    guide.say(f"   {report.sentences[0]}")
    guide.say("   pr is the machine's F over that of people, who are made up here: 1 would be as good.")
    guide.say(f"   The report is in {guide.out / page}.")


def _derivation(guide: Guide) -> None:
    """Show how the winner of a game follows from words that never name one."""
    guide.say("   One report never says who won. How is it known?")
    asked = {"statements": ANNOTATIONS, "documents": f"{PACKAGE}/corpus", "out": "why.html"}
    words = ("--document", DOCUMENT, "--statement", DERIVED)
    guide.command("reading", "explain", str(guide.out / RULES), *words, **asked)
    _explain(guide, _session(guide, ANNOTATIONS), DERIVED, asked["out"])


def _contradiction(guide: Guide) -> None:
    """Add a statement that cannot be, and show what is wrong with it."""
    guide.say("   It tells of sudden death. Let a reader claim four periods, and the rules object:")
    claimed = "reading/four-periods.ndjson"
    _write_claim(guide.folder / ANNOTATIONS, guide.folder / claimed)
    asked = {"statements": claimed, "documents": f"{PACKAGE}/corpus", "out": "contradiction.html"}
    guide.command("reading", "explain", str(guide.out / RULES), **asked)
    _explain(guide, _session(guide, claimed), None, asked["out"])


def _write_claim(annotations: Path, out: Path) -> None:
    """The annotations of one report, and a wrong statement after them."""
    lines = annotations.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if json.loads(line)["document"] == DOCUMENT]
    wrong: dict[str, Any] = {"document": DOCUMENT, "statement": WRONG, "kind": "explicit", "provenance": []}
    out.write_text("\n".join((*kept, json.dumps(wrong))) + "\n", encoding="utf-8")


def _session(guide: Guide, statements: str) -> Session:
    from basanite.errors import InvalidInputError
    from basanite.problems import Findings
    from basanite.reading.limits import Limits
    from basanite.reading.reasoner.session import Choice, open_session

    findings = Findings()
    choice = Choice((guide.folder / RULES,), guide.folder / statements, document=DOCUMENT)
    session = open_session(choice, findings, limits=Limits())
    if session is None:
        raise InvalidInputError("reading", findings)
    return session


def _explain(guide: Guide, session: Session, statement: str | None, page: str) -> None:
    """Write the page that explains, and tell the same in words."""
    from basanite.reading.reasoner.explaining import files

    found = files.explained(session, statement)
    if found is not None:
        out = guide.folder / page
        out.write_bytes(files.rendered(session, found, out, guide.folder / PACKAGE / "corpus"))
        for line in files.as_lines(session, found):
            guide.say(f"      {line}")
        guide.say(f"   The page with the words of the report is {guide.out / page}.")
