"""`basanite reading infer`, `explain`, `contexts`, `combinations` and `answer`: reasoning about statements."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite import canonical
from basanite.cli.options import PATH, Command, as_json, example, plain_findings, run_or_exit, say, show_findings
from basanite.errors import InvalidInputError, SettingError, UnknownNameError, UnreadableError
from basanite.problems import Findings, visible

if TYPE_CHECKING:
    from basanite.reading.reasoner.session import Session

TASK = "reading"
NFL = "nfl/rules/scoring.rules --statements nfl/annotations/train.ndjson --document nfl-001"


def theory_options(command: Command) -> Command:
    """Add what every command takes that reasons with rules."""
    for option in (
        click.option(
            "--limit", "limits", multiple=True, metavar="NAME=NUMBER", help="Change a limit. Can be repeated."
        ),
        click.option("--explicit", is_flag=True, help="Use only annotations that the text states explicitly."),
        click.option("--document", help="Use only annotations of this document."),
        click.option("--base", metavar="IRI", help="Resolve relative names of RDF files against it."),
        click.option("--ontology", type=PATH, help="Its axioms become rules, its constraints contradictions."),
        click.option("--statements", type=PATH, help="RDF, NDJSON triples or annotations."),
        click.argument("rules", nargs=-1, type=PATH, metavar="[RULES...]"),
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
    """Derive what follows from statements under RULES, list contradictions, and answer a query."""
    from basanite.reading.reasoner.answers import answer
    from basanite.reading.reasoner.plain import inference_lines, inference_object

    session = _session(asked, json=as_json)
    goals = run_or_exit(lambda: session.query(query), json=as_json, plain=True) if query else None
    answers = answer(session.inference, goals, explainer=session.explainer) if goals else None
    data = inference_object(session.inference, session.explainer, answers, derivations=as_json)
    _print(data, inference_lines(data), json=as_json)
    if not session.inference.complete or (answers and answers.undecided):
        raise click.exceptions.Exit(1)


@click.command(epilog=example(f'basanite reading explain {NFL} --statement "game-001 type NFLGame"'))
@theory_options
@click.option("--statement", help="The statement to explain; without it, every contradiction.")
@click.option("--documents", type=PATH, help="A folder with the texts, to show the words that support statements.")
@click.option("--out", type=PATH, help="Write a page (.html) or provenance as RDF (.ttl .rdf .nt .jsonld) there.")
@as_json
def explain(statement: str | None, documents: Path | None, out: Path | None, as_json: bool, **asked: Any) -> None:
    """Show how a statement was derived under RULES or why it does not follow, or the source of each contradiction."""
    from basanite.reading.reasoner import explanation_files as files
    from basanite.reading.reasoner.plain import undecided_words
    from basanite.reading.reasoner.why_not import why_not_lines, why_not_object

    session = _session(asked, json=as_json)
    if not session.inference.complete:
        undecided = [one.as_dict() for one in session.inference.undecided]
        _print({"undecided": undecided}, [undecided_words(one) for one in session.inference.undecided], json=as_json)
        raise click.exceptions.Exit(1)
    explained = run_or_exit(lambda: files.explanation(session, statement), json=as_json, plain=True)
    if explained is None and statement is not None:
        if out is not None:
            raise UnknownNameError(
                f"{statement} was not given and does not follow. Without --out, `explain` says why not."
            )
        data = why_not_object(session.inference, session.statement(statement), session.prefixes)
        _print(data, list(why_not_lines(data)), json=as_json)
        raise click.exceptions.Exit(1)
    assert explained is not None
    if out is not None:
        content = files.explanation_file(session, explained, out, documents)
        _write(out, content)
        say(f"Explanation written to {out}")
    _print(files.as_data(session, explained), files.as_lines(session, explained), json=as_json)


@click.command(epilog=example(f"basanite reading contexts {NFL}"))
@theory_options
@click.option("--largest", is_flag=True, help="Only the largest sets; without it, all maximal sets.")
@as_json
def contexts(largest: bool, as_json: bool, **asked: Any) -> None:
    """Find the largest subsets of contradictory statements that are consistent under RULES."""
    from basanite.reading.reasoner.contexts import contexts as search
    from basanite.reading.reasoner.plain import contexts_lines, contexts_object

    session = _session(asked, json=as_json)
    found = search(session.reasoner, session.given.statements, which="largest" if largest else "maximal")
    data = contexts_object(found, session.prefixes)
    _print(data, contexts_lines(data), json=as_json)
    if found.undecided:
        raise click.exceptions.Exit(1)


@click.command(epilog=example("basanite reading combinations nfl/theories/scoring.toml --total 20 --at-least fg=1"))
@click.argument("theory", type=PATH)
@click.option("--total", type=int, required=True, help="The total to explain.")
@click.option("--at-least", multiple=True, metavar="EVENT=NUMBER", help="A known bound on a count. Can be repeated.")
@click.option("--at-most", multiple=True, metavar="EVENT=NUMBER", help="A known bound on a count. Can be repeated.")
@click.option("--exactly", multiple=True, metavar="EVENT=NUMBER", help="A known bound on a count. Can be repeated.")
@click.option(
    "--show", type=click.IntRange(1), default=10, show_default=True, help="Combinations to list in the table."
)
@click.option("--limit", "limits", multiple=True, metavar="NAME=NUMBER", help="Change a limit. Can be repeated.")
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
    """Rank combinations of events that add up to a total, with probabilities that sum to 1."""
    from basanite.reading.limits import chosen_limits
    from basanite.reading.reasoner.combinations import Bounds, read_theory
    from basanite.reading.reasoner.combinations import combinations as ranked
    from basanite.reading.reasoner.plain import combinations_lines, combinations_object

    findings = Findings()
    read = read_theory(theory, findings)
    if read is None:
        show_findings(plain_findings(findings), TASK, json=as_json)
        raise click.exceptions.Exit(1)
    bounds = Bounds(_counts(at_least), _counts(at_most), _counts(exactly))
    found = ranked(read, total, bounds, limits=chosen_limits(limits))
    _print(combinations_object(read, total, bounds, found), combinations_lines(read, total, found, show), json=as_json)
    if found.undecided:
        raise click.exceptions.Exit(1)


@click.command(epilog=example(f'basanite reading answer {NFL} --query "?G type NFLGame"'))
@theory_options
@query_option("The triples of a query; or a file of queries, which needs --ontology.")
@click.option("--out", type=PATH, help="Write the answers there, one JSON object per line, as a submission.")
@as_json
def answer(query: str | None, out: Path | None, as_json: bool, **asked: Any) -> None:
    """Answer queries from statements and RULES, document by document."""
    from basanite.reading.reasoner.session import answered_rows, ndjson

    if not query:
        raise click.UsageError("Give --query: the triples of a query, or a file of queries.")
    session = _session(asked, json=as_json)
    queries = run_or_exit(lambda: session.queries(query), json=as_json, plain=True)
    rows, undecided = answered_rows(session, queries)
    if out is not None:
        _write(out, ndjson(rows))
        say(f"Answers written to {out}")
    lines = []
    for row in rows:
        told = [f"{name} = {value[0] if isinstance(value, list) else value}" for name, value in row["answer"].items()]
        lines.append(f"{row['query']} {row['document']} {row['kind']}: {', '.join(told)}")
    data = {"answers": rows, "undecided": undecided}
    _print(data, [*lines, f"Answers: {len(rows)}. Undecided: {len(undecided)}."], json=as_json)
    if undecided:
        raise click.exceptions.Exit(1)


def _session(asked: dict[str, Any], *, json: bool) -> Session:
    """Everything that is read, checked; problems end the command, warnings are shown."""
    from basanite.reading.limits import chosen_limits
    from basanite.reading.reasoner.session import Choice, open_session

    rules, statements, ontology = asked["rules"], asked["statements"], asked["ontology"]
    if not rules and ontology is None:
        raise click.UsageError("Give files of rules, a reading package, or --ontology.")
    if statements is None and ontology is None:
        raise click.UsageError("Give --statements, or an --ontology that states something about individuals.")
    choice = Choice(rules, statements, ontology, asked["document"], explicit=asked["explicit"], base=asked["base"])
    findings = Findings()

    def work() -> Session:
        session = open_session(choice, findings, limits=chosen_limits(asked["limits"]))
        if session is None or not findings.valid:
            raise InvalidInputError(TASK, findings)
        return session

    session = run_or_exit(work, json=json, plain=True)
    if not json:
        show_findings(plain_findings(findings), TASK, json=False)
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
        sys.stdout.write(canonical.dumps(data))
    else:
        click.echo("\n".join(map(visible, lines)))


def _write(out: Path, content: bytes) -> None:
    try:
        out.write_bytes(content)
    except OSError as error:
        raise UnreadableError(f"{out} cannot be written: {error.strerror}. Choose another place.") from error
