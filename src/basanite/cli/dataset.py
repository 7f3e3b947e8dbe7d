"""`basanite dataset`: check a released data set or build pack, build packs, and make up evaluations to rehearse."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from basanite import canonical
from basanite.cli.dataset_card import card
from basanite.cli.options import PATH, as_json, example, run_or_exit, say, show_findings
from basanite.errors import InvalidInputError, SettingError
from basanite.formats.datasets.build_pack import BuildPack, is_build_pack, read_build_pack
from basanite.formats.datasets.dataset_tree import DataSet, read_tree
from basanite.formats.datasets.raw_documents import RawDocument, read_raw_documents, read_relevance
from basanite.formats.datasets.usage_rules import rules_for
from basanite.problems import Findings, visible
from basanite.reports.wording import plural
from basanite.synthetic.clir import DOMAINS, Spec
from basanite.synthetic.identification import domains, languages
from basanite.synthetic.packs import Packs, PackSpec, build_packs, write_secrets, write_tree
from basanite.synthetic.rehearsal import write_identification, write_retrieval
from basanite.tasks.retrieval.decisions import CLIR_BETAS

DATASET = "dataset"
SHARE = 0.04
"""DEV and ANALYSIS by default: 650 documents each where 15 000 are evaluated on."""


@click.group(
    epilog=example("basanite dataset check IARPA_MATERIAL-BASE-1A"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def dataset() -> None:
    """Check a released dataset, build packs from a table of documents, or generate an evaluation for a rehearsal."""


dataset.add_command(card)


@dataset.command(epilog=example("basanite dataset check IARPA_MATERIAL-BASE-1A"))
@click.argument("path", type=PATH)
@as_json
def check(path: Path, as_json: bool) -> None:
    """Check the dataset, pack or build pack in the folder PATH. Exit code 0: valid; 1: not valid."""
    findings = Findings()
    build = is_build_pack(path)
    found = read_build_pack(path, findings) if build else read_tree(path, findings)
    held = _build_contents(found) if isinstance(found, BuildPack) else _contents(found)
    if as_json:
        usage = {} if build else {"usage": _usage(held)}
        sys.stdout.write(canonical.dumps({**findings.as_dict(DATASET), "contents": held, **usage}))
    else:
        show_findings(findings, DATASET, json=False)
        lines = _lines(held) if build else _pack_lines(held)
        click.echo(
            "\n".join((*lines, f"{visible(path.resolve().name)} is {'' if findings.valid else 'not '}in order."))
        )
    if not findings.valid:
        raise click.exceptions.Exit(1)


@dataset.command(epilog=example("basanite dataset build collected.tsv --out release --language 1A --seed 7"))
@click.argument("table", type=PATH)
@click.option("--out", type=PATH, required=True, help="The folder to make; must not exist yet.")
@click.option("--language", required=True, help="The language of the evaluation; other documents are distractors.")
@click.option("--period", default="BASE", show_default=True, help="The period of the program.")
@click.option("--dev", type=click.IntRange(0), help="Documents in DEV.  [default: 4 in 100]")
@click.option("--analysis", type=click.IntRange(0), help="Documents in ANALYSIS.  [default: 4 in 100]")
@click.option("--epochs", type=click.IntRange(1, 3), default=3, show_default=True, help="Packs of EVAL.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@click.option(
    "--relevance", type=PATH, help="A table of query and source that lists the relevant documents of each query."
)
@click.option("--pack", "names", multiple=True, help="Write only this pack. Can be repeated.")
@as_json
def build(
    table: Path, out: Path, relevance: Path | None, names: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Divide the documents of TABLE into packs and write them as a dataset tree.

    TABLE has the columns source, genre, date, language, domains, and file where documents exist; without files, tiny
    ones are generated. What teams must not see is written to OUT/secret.
    """
    documents, pairs = run_or_exit(lambda: _read(table, relevance), json=as_json)
    packs = build_packs(documents, _spec(documents, **options))
    for name in names:
        if name not in packs.names:
            raise click.BadParameter(f"There is no pack {name!r}. There are: {', '.join(packs.names)}.")
    if out.exists():
        raise SettingError(f"{out} already exists. Choose another folder: existing files are never overwritten.")
    root = write_tree(packs, out, names=names or None, relevance=pairs)
    write_secrets(packs, out / "secret")
    _show_packs(packs, root, names or packs.names, json=as_json)


@dataset.command(epilog=example("basanite dataset rehearse clir --out rehearsal --queries 50 --documents 500"))
@click.argument("task", type=click.Choice(["clir", "domainid", "langid"]))
@click.option("--out", type=PATH, required=True, help="The folder to make; must not exist yet.")
@click.option("--queries", type=click.IntRange(1, 99_999), default=20, show_default=True, help="Queries (clir).")
@click.option("--documents", type=click.IntRange(10, 1_000_000), default=200, show_default=True, help="Documents.")
@click.option("--language", type=click.Choice(list(DOMAINS)), default="1A", show_default=True, help="The language.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@as_json
def rehearse(task: str, out: Path, as_json: bool, **size: Any) -> None:
    """Generate an evaluation of TASK with a known result: a reference, three systems, and their expected scores.

    The same sizes and seed give the same files. OUT/expected.json has the values, in the form of `score --json`.
    """
    if out.exists():
        raise SettingError(f"{out} already exists. Choose another folder: existing files are never overwritten.")
    spec = Spec(**size)
    out.mkdir(parents=True)
    if task == "clir":
        expected = write_retrieval(spec, out, CLIR_BETAS.printed[spec.language])
    else:
        expected = write_identification(spec, out, domains if task == "domainid" else languages)
    (out / "expected.json").write_text(canonical.dumps(expected), encoding="utf-8")
    if as_json:
        sys.stdout.write(canonical.dumps({"folder": str(out), "task": task, "expected": expected}))
    else:
        told = f"{plural('system', len(expected))} and what each must score, in expected.json"
        click.echo(f"{visible(str(out))} holds a key, {told}.")


def _read(table: Path, relevance: Path | None) -> tuple[list[RawDocument], list[tuple[str, str]]]:
    findings = Findings()
    documents = read_raw_documents(table, findings)
    sources = {document.source for document in documents}
    pairs = read_relevance(relevance, sources, findings) if relevance is not None and findings.valid else []
    if not findings.valid:
        raise InvalidInputError(DATASET, findings)
    return documents, pairs


def _spec(documents: Sequence[RawDocument], **options: Any) -> PackSpec:
    own = sum(document.language == options["language"] for document in documents)
    sizes = {name: round(SHARE * own) if options[name] is None else options[name] for name in ("dev", "analysis")}
    return PackSpec(**{**options, **sizes})


def _show_packs(packs: Packs, root: Path, names: Sequence[str], *, json: bool) -> None:
    rows = [{"pack": name, "documents": len(packs.of(name)), "domains": packs.balance(name)} for name in names]
    if json:
        sys.stdout.write(canonical.dumps({"written": str(root), "packs": rows}))
        return
    for name in names:
        domains = "  ".join(f"{code} {count}" for code, count in sorted(packs.balance(name).items()))
        click.echo(f"{name:<10} {plural('document', len(packs.of(name))):<15} {domains}")
    say(f"Written to {root}; what teams must not see is in {root.parent / 'secret'}.")


def _contents(found: DataSet | None) -> list[dict[str, Any]]:
    """How many documents there are, by pack, mode and genre."""
    counts = sorted(found.counts().items()) if found else []
    return [{"pack": pack, "mode": mode, "genre": genre, "documents": n} for (pack, mode, genre), n in counts]


def _build_contents(found: BuildPack) -> list[dict[str, Any]]:
    """What a build pack holds, counted."""
    parts: list[dict[str, Any]] = [
        {"part": part.part, **part.kinds, "transcribed": part.transcribed, "seconds": part.seconds}
        for part in found.parts
    ]
    bitext = found.bitext
    words = {"pairs": bitext.pairs, "source words": bitext.source_words, "English words": bitext.english_words}
    return [{"part": "descriptions", "files": len(found.descriptions)}, *parts, {"part": "bitext", **words}]


def _pack_lines(held: Sequence[dict[str, Any]]) -> list[str]:
    """Each pack as words: how many documents, how many of each genre, and what may be done with it."""
    packs: dict[str, list[dict[str, Any]]] = {}
    for row in held:
        packs.setdefault(row["pack"], []).append(row)
    usage, lines = _usage(held), []
    for name, rows in packs.items():
        total = plural("document", sum(row["documents"] for row in rows))
        genres = "  ".join(f"{row['genre'] or row['mode']} {row['documents']}" for row in rows)
        may, may_not = (
            ", ".join(rule["name"] for rule in usage[name] if rule["allowed"] is yes) for yes in (True, False)
        )
        lines += [f"{name:<10} {total:<15} {visible(genres)}"]
        lines += [f"{'':10} may: {may or 'nothing'}", f"{'':10} may not: {may_not or 'nothing'}"]
    return lines


def _usage(held: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What may be done with each pack, shown wherever the pack is (M82)."""
    return {name: [asdict(rule) for rule in rules_for(name)] for name in sorted({row["pack"] for row in held})}


def _lines(held: Sequence[dict[str, Any]]) -> list[str]:
    """Each row as words: what it is called, then its numbers."""
    return [
        "  ".join(
            [" ".join(f"{value:<9}" for value in row.values() if isinstance(value, str))]
            + [f"{value:,.6g} {name}" for name, value in row.items() if not isinstance(value, str)]
        )
        for row in held
    ]
