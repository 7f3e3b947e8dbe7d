"""`basanite reading`: packages, reasoning and reading tasks; each command is loaded only when it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import click

from basanite.cli.groups import LazyGroup
from basanite.cli.options import example, guarded
from basanite.errors import InvalidInputError
from basanite.problems import Findings, moved

Result = TypeVar("Result")
PACKAGE, REASONER = "reading.package", "reading.reasoner"
SECTIONS: Final = {
    "Packages and reading tasks": {
        "check": (PACKAGE, "Check a whole reading package: every problem with file, line and cure."),
        "register": (PACKAGE, "Write down the hashes of new documents."),
        "generate": (PACKAGE, "Make a reading task from a package, as a streamed RDF graph."),
        "export": (PACKAGE, "Write annotations, constraints or queries in standard formats."),
        "release": (PACKAGE, "Make a bundle with licence, citation and checksums, without sealed parts."),
        "effort": (PACKAGE, "Show or log the time and annotation that a use case has taken."),
    },
    "Reasoning": {
        "infer": (REASONER, "Tell what follows from statements, and what contradicts what."),
        "explain": (REASONER, "Show how a statement was derived, down to the text."),
        "contexts": (REASONER, "Find the largest consistent sets among contradictory statements."),
        "combinations": (REASONER, "Rank the combinations of events that explain a total."),
        "answer": (REASONER, "Answer queries from statements and rules."),
    },
}


def plain(findings: Findings) -> Findings:
    """Problems of reading's own files, which are no parts of a submission: their names say all."""
    findings.problems[:] = [moved(problem, "submission") for problem in findings]
    return findings


def checked(work: Callable[[], Result], *, json: bool) -> Result:
    """Do some work; if its input turns out invalid, print the problems and end with exit code 1."""

    def named() -> Result:
        try:
            return work()
        except InvalidInputError as invalid:
            plain(invalid.findings)
            raise

    return guarded(named, json=json)


@click.group(
    cls=LazyGroup,
    sections=SECTIONS,
    epilog=example("basanite reading check nfl"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def reading() -> None:
    """Machine reading: check packages, reason with rules, and make reading tasks."""
