"""`basanite reading infer`, `explain`, `contexts`, `combinations` and `answer`: reasoning about statements."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.options import PATH, Command, as_json, example, say, show_findings
from basanite.cli.reading import checked, plain
from basanite.errors import InvalidInputError, SettingError, UnknownNameError, UnreadableError
from basanite.problems import Findings, visible
from basanite.reports.formats import json_output

if TYPE_CHECKING:
    from basanite.reading.reasoner.session import Session

TASK = "reading"
NFL = "nfl/rules/scoring.rules --statements nfl/annotations/train.ndjson --document nfl-001"


def theory_options(command: Command) -> Command:
    """Add what every command takes that reasons with rules."""
    for option in (
        click.option("--limit", "limits", multiple=True, metavar="NAME=NUMBER", help="Allow more or less. Repeat it."),
        click.option("--explicit", is_flag=True, help="Of annotations, take only what the text says outright."),
        click.option("--document", help="Of annotations, take those of one document."),
        click.option("--ontology", type=PATH, help="Its constraints become contradictions, its classes rules."),
        click.option("--statements", type=PATH, required=True, help="RDF, NDJSON triples or annotations."),
        click.argument("rules", nargs=-1, required=True, type=PATH, metavar="RULES..."),
    ):
        command = option(command)
    return command


def query_option(text: str) -> Callable[[Command], Command]:
    """Add `--query`."""
    return click.option("--query", help=text)


@click.command(epilog=example(f"basanite reading infer {NFL}"))
@theory_options
@query_option("A query: a file of triples, or the triples themselves.")
@as_json
def infer(query: str | None, as_json: bool, **asked: Any) -> None:
    """Tell what follows from statements under RULES, what contradicts what, and the answers of a query."""
    from basanite.reading.reasoner.answers import answer
    from basanite.reading.reasoner.explaining.plain import inference_lines, inference_object

    session = _session(asked, json=as_json)
    goals = checked(lambda: session.query(query), json=as_json) if query else None
    answers = answer(session.inference, goals, explainer=session.explainer) if goals else None
    data = inference_object(session.inference, session.explainer, answers)
    _print(data, inference_lines(data), json=as_json)
    if not session.inference.complete or (answers and answers.undecided):
        raise click.exceptions.Exit(1)


@click.command(epilog=example(f'basanite reading explain {NFL} --statement "game-001 type NFLGame"'))
@theory_options
@click.option("--statement", help="The statement to explain; without it, every contradiction.")
@click.option("--documents", type=PATH, help="A folder with the texts, to lead to the words that statements rest on.")
@click.option("--out", type=PATH, help="Write a page (.html) or provenance as RDF (.ttl .rdf .nt .jsonld) there.")
@as_json
def explain(statement: str | None, documents: Path | None, out: Path | None, as_json: bool, **asked: Any) -> None:
    """Show how a statement was derived under RULES, or what is behind each contradiction."""
    from basanite.reading.reasoner.explaining import files
    from basanite.reading.reasoner.explaining.plain import undecided_words

    session = _session(asked, json=as_json)
    if not session.inference.complete:
        undecided = [one.as_dict() for one in session.inference.undecided]
        _print({"undecided": undecided}, [undecided_words(one) for one in session.inference.undecided], json=as_json)
        raise click.exceptions.Exit(1)
    explained = checked(lambda: files.explained(session, statement), json=as_json)
    if explained is None:
        raise UnknownNameError(f"{statement} was not given and does not follow. `reading infer` lists what does.")
    if out is not None:
        content = files.rendered(session, explained, out, documents)
        _write(out, content)
        say(f"Explanation written to {out}")
    _print(files.as_data(session, explained), files.as_lines(session, explained), json=as_json)


@click.command(epilog=example(f"basanite reading contexts {NFL}"))
@theory_options
@click.option("--largest", is_flag=True, help="Only the largest; without it all that cannot be enlarged.")
@as_json
def contexts(largest: bool, as_json: bool, **asked: Any) -> None:
    """Find the parts of contradictory statements that are consistent under RULES."""
    from basanite.reading.reasoner.worlds.contexts import contexts as search
    from basanite.reading.reasoner.worlds.plain import contexts_lines, contexts_object

    session = _session(asked, json=as_json)
    found = search(session.reasoner, session.given.statements, which="largest" if largest else "maximal")
    data = contexts_object(found, session.prefixes)
    _print(data, contexts_lines(data), json=as_json)
    if found.undecided:
        raise click.exceptions.Exit(1)


@click.command(epilog=example("basanite reading combinations nfl/theories/scoring.toml --total 20 --at-least fg=1"))
@click.argument("theory", type=PATH)
@click.option("--total", type=int, required=True, help="The total that the events make up.")
@click.option("--at-least", multiple=True, metavar="EVENT=NUMBER", help="What is known of a count. Repeat it.")
@click.option("--at-most", multiple=True, metavar="EVENT=NUMBER", help="What is known of a count. Repeat it.")
@click.option("--exactly", multiple=True, metavar="EVENT=NUMBER", help="What is known of a count. Repeat it.")
@click.option(
    "--show", type=click.IntRange(1), default=10, show_default=True, help="Combinations to list in the table."
)
@click.option("--limit", "limits", multiple=True, metavar="NAME=NUMBER", help="Allow more or less. Repeat it.")
@as_json
def combinations(
    theory: Path,
    total: int,
    at_least: Sequence[str],
    at_most: Sequence[str],
    exactly: Sequence[str],
    show: int,
    limits: Sequence[str],
    as_json: bool,
) -> None:
    """Rank the combinations of events that make up a total, with probabilities that sum to 1."""
    from basanite.reading.limits import chosen_limits
    from basanite.reading.reasoner.worlds.combinations import Bounds
    from basanite.reading.reasoner.worlds.combinations import combinations as ranked
    from basanite.reading.reasoner.worlds.plain import combinations_lines, combinations_object
    from basanite.reading.reasoner.worlds.theory_file import read_theory

    findings = Findings()
    read = read_theory(theory, findings)
    if read is None:
        show_findings(plain(findings), TASK, json=as_json)
        raise click.exceptions.Exit(1)
    bounds = Bounds(_counts(at_least), _counts(at_most), _counts(exactly))
    found = ranked(read, total, bounds, limits=chosen_limits(limits))
    _print(combinations_object(read, total, bounds, found), combinations_lines(read, total, found, show), json=as_json)
    if found.undecided:
        raise click.exceptions.Exit(1)


@click.command(epilog=example(f'basanite reading answer {NFL} --query "?G type NFLGame"'))
@theory_options
@query_option("The triples of a query; or a file of queries, which needs --ontology.")
@click.option("--out", type=PATH, help="Write the answers there, one JSON object a line, as a submission.")
@as_json
def answer(query: str | None, out: Path | None, as_json: bool, **asked: Any) -> None:
    """Answer queries from statements and RULES, document by document."""
    from basanite.reading.reasoner.answering import answered_rows, ndjson

    if not query:
        raise click.UsageError("Give --query: the triples of a query, or a file of queries.")
    session = _session(asked, json=as_json)
    queries = checked(lambda: session.queries(query), json=as_json)
    rows, undecided = answered_rows(session, queries)
    if out is not None:
        _write(out, ndjson(rows))
        say(f"Answers written to {out}")
    lines = [f"{row['query']} {row['document']} {row['kind']}: {_answer_words(row['answer'])}" for row in rows]
    data = {"answers": rows, "undecided": undecided}
    _print(data, [*lines, f"Answers: {len(rows)}. Undecided: {len(undecided)}."], json=as_json)
    if undecided:
        raise click.exceptions.Exit(1)


def _session(asked: dict[str, Any], *, json: bool) -> Session:
    """Everything that is read, checked; problems end the command, warnings are shown."""
    from basanite.reading.limits import chosen_limits
    from basanite.reading.reasoner.session import Choice, open_session

    choice = Choice(
        asked["rules"], asked["statements"], asked["ontology"], asked["document"], explicit=asked["explicit"]
    )
    findings = Findings()

    def work() -> Session:
        session = open_session(choice, findings, limits=chosen_limits(asked["limits"]))
        if session is None or not findings.valid:
            raise InvalidInputError(TASK, findings)
        return session

    session = checked(work, json=json)
    if not json:
        show_findings(plain(findings), TASK, json=False)
    return session


def _counts(texts: Sequence[str]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, _, number = text.partition("=")
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise SettingError(f"{text!r} cannot be read: write EVENT=NUMBER, as fg=1.")
        found[name] = int(number)
    return found


def _print(data: dict[str, Any], lines: Sequence[str], *, json: bool) -> None:
    if json:
        sys.stdout.write(json_output.dumps(json_output.plain(data)))
    else:
        click.echo("\n".join(map(visible, lines)))


def _answer_words(answer: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value[0] if isinstance(value, list) else value}" for name, value in answer.items())


def _write(out: Path, content: bytes) -> None:
    try:
        out.write_bytes(content)
    except OSError as error:
        raise UnreadableError(f"{out} cannot be written: {error.strerror}. Choose another place.") from error
