"""`basanite convert`: files of TREC, WMT, STM, CTM, trec_eval and sacreBLEU into ours, and back."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from basanite import canonical
from basanite.cli.options import PATH, Command, as_json, example, problem_line, say, show_findings
from basanite.errors import SettingError
from basanite.formats.archives.output import refuse_to_overwrite, write_files, write_text
from basanite.formats.foreign_files import RULE, Losses
from basanite.formats.records import Place
from basanite.formats.retrieval import trec_conversion
from basanite.formats.retrieval.trec import Decision, Scale
from basanite.formats.texts import external_scores as bleu
from basanite.formats.texts import external_scores as trec
from basanite.formats.texts.external_scores import Reported
from basanite.formats.texts.transcript_records import (
    ctm_lines,
    ctm_records,
    read_segments,
    read_words,
    stm_lines,
    stm_records,
)
from basanite.formats.texts.transcripts import read_ctm, read_stm
from basanite.formats.texts.wmt import read_wmt, write_wmt
from basanite.formats.texts.wmt_files import Given, files_of, read_files, system_of
from basanite.problems import Findings
from basanite.reports.result_files import reported_of, result_object

CONVERSION = "conversion"


def out_option(what: str) -> Callable[[Command], Command]:
    """Add `--out`."""
    return click.option("--out", type=PATH, required=True, help=f"{what}; must not exist yet.")


def finish(findings: Findings, out: Path, *, json: bool, counts: Mapping[str, Any] | None = None) -> None:
    """Say what was written and what was not kept, or all that is wrong with the input; then nothing is written."""
    if json:
        written = str(out) if findings.valid else None
        told = {**findings.as_dict(CONVERSION), **(counts or {}), "written": written}
        sys.stdout.write(canonical.dumps(told))
    elif findings.valid:  # then all that was found was left behind
        for problem in findings.problems:
            say(problem_line(problem))
        say(f"Written to {out}")
    else:
        show_findings(findings, CONVERSION, json=False)
        say(f"{out} was not written, for the input has problems.")
    if not findings.valid:
        raise click.exceptions.Exit(1)


@click.command("wmt", epilog=example("basanite convert wmt newstest.xml --out newstest"))
@click.argument("xml", type=PATH)
@out_option("The folder to write")
@as_json
def wmt(xml: Path, out: Path, as_json: bool) -> None:
    """Convert a WMT test set in XML to the files that `translation` reads.

    source.jsonl, reference.jsonl and systems/NAME.jsonl for every system in it.
    """
    findings = Findings()
    found = read_wmt(xml, findings)
    files = files_of(found, findings) if found else {}
    write_files(files.items(), out, findings)
    counts = {"documents": len(found.documents) if found else 0, "files": sorted(files)}
    finish(findings, out, json=as_json, counts=counts)


@click.command(
    "to-wmt",
    epilog=example(
        "basanite convert to-wmt source.jsonl --reference reference.jsonl --submission Alpha=Alpha.jsonl --out test.xml"
    ),
)
@click.argument("source", type=PATH)
@click.option("--reference", type=PATH, help="The references of the segments.")
@click.option(
    "--submission",
    "submissions",
    multiple=True,
    metavar="[NAME=]FILE",
    help="A system's translations. Can be repeated.",
)
@out_option("The XML file to write")
@as_json
def to_wmt(source: Path, reference: Path | None, submissions: tuple[str, ...], out: Path, as_json: bool) -> None:
    """Convert the segments in SOURCE, with references and system translations, to a WMT test set."""
    findings, losses = Findings(), Losses(out.name)
    found = read_files(Given(source, reference, _systems(submissions)), findings)
    lines = list(write_wmt(found, losses)) if found else []
    _write(lines, out, findings, losses, source=source)
    finish(findings, out, json=as_json, counts={"documents": len(found.documents) if found else 0})


def _systems(texts: Iterable[str]) -> dict[str, Path]:
    """Systems by name; a file without a name is called as its file is."""
    found: dict[str, Path] = {}
    for text in texts:
        name, sign, path = text.partition("=")
        if not sign or Path(text).exists():
            name, path = system_of(Path(text)), text
        if name in found:
            raise SettingError(f"Two systems are called {name!r}. Give them names: --submission NAME=FILE.")
        found[name] = Path(path)
    return found


@click.command("stm", epilog=example("basanite convert stm reference.stm --out spoken.jsonl"))
@click.argument("stm", type=PATH)
@out_option("The reference to write, .jsonl")
@as_json
def stm(stm: Path, out: Path, as_json: bool) -> None:
    """Convert the segments of the file STM to a reference of `speech`."""
    findings, losses = Findings(), Losses(stm.name)
    items = read_stm(stm, Place("reference", RULE), findings)
    records = list(stm_records(items, losses)) if items and findings.valid else []
    _write(_json_lines(records), out, findings, losses, source=stm)
    finish(findings, out, json=as_json, counts={"segments": len(records)})


@click.command("to-stm", epilog=example("basanite convert to-stm made/spoken.jsonl --out spoken.stm"))
@click.argument("reference", type=PATH)
@out_option("The STM file to write")
@as_json
def to_stm(reference: Path, out: Path, as_json: bool) -> None:
    """Convert REFERENCE to STM; its records name recording, channel, speaker, start and end."""
    findings, losses = Findings(), Losses(reference.name)
    segments = read_segments(reference, findings, losses)
    _write(list(stm_lines(segments, losses)), out, findings, losses, source=reference)
    finish(findings, out, json=as_json, counts={"segments": len(segments)})


@click.command("ctm", epilog=example("basanite convert ctm heard.ctm --reference reference.stm --out heard.jsonl"))
@click.argument("ctm", type=PATH)
@click.option("--reference", type=PATH, required=True, help="The STM file with the segments.")
@out_option("The submission to write, .jsonl")
@as_json
def ctm(ctm: Path, reference: Path, out: Path, as_json: bool) -> None:
    """Convert the words of the file CTM to a submission of `speech`, by the segments of the reference."""
    findings, losses = Findings(), Losses(ctm.name)
    items = read_stm(reference, Place("reference", RULE), findings)
    hearing = read_ctm(ctm, Place("submission", RULE), findings)
    records = list(ctm_records(items.content, hearing, losses)) if items and findings.valid else []
    _write(_json_lines(records), out, findings, losses, source=ctm)
    finish(findings, out, json=as_json, counts={"words": sum(len(record["words"]) for record in records)})


@click.command("to-ctm", epilog=example("basanite convert to-ctm made/heard.jsonl --out again.ctm"))
@click.argument("submission", type=PATH)
@out_option("The CTM file to write")
@as_json
def to_ctm(submission: Path, out: Path, as_json: bool) -> None:
    """Convert SUBMISSION to CTM; its records name recording and channel, and list words with times."""
    findings, losses = Findings(), Losses(submission.name)
    words = read_words(submission, findings, losses)
    _write(list(ctm_lines(words)), out, findings, losses, source=submission)
    finish(findings, out, json=as_json, counts={"words": len(words)})


def _json_lines(records: Iterable[Mapping[str, Any]]) -> list[str]:
    return [json.dumps(record, ensure_ascii=False) + "\n" for record in records]


def _write(lines: list[str], out: Path, findings: Findings, losses: Losses, *, source: Path) -> None:
    """Write lines unless something is wrong, and note what was left behind."""
    refuse_to_overwrite(out)
    findings.extend(losses.problems())
    write_text(lines, out, findings, source=source)


@click.command("trec-eval", epilog=example("basanite convert trec-eval trec_eval.txt --out theirs.json"))
@click.argument("printed", type=PATH)
@out_option("The result to write, .json")
@as_json
def trec_eval(printed: Path, out: Path, as_json: bool) -> None:
    """Convert trec_eval's output PRINTED, with or without -q, to a result that `compare --result` shows beside
    others."""
    findings, losses = Findings(), Losses(printed.name)
    _write_result(trec.read_trec_eval(printed, findings, losses), out, findings, losses, json=as_json)


@click.command("sacrebleu", epilog=example("basanite convert sacrebleu sacrebleu.json --out theirs.json"))
@click.argument("printed", type=PATH)
@click.option("--system", default="", help="Which system, where the file has several.")
@out_option("The result to write, .json")
@as_json
def sacrebleu(printed: Path, system: str, out: Path, as_json: bool) -> None:
    """Convert sacreBLEU's JSON output PRINTED to a result that `compare --result` shows beside others."""
    findings, losses = Findings(), Losses(printed.name)
    _write_result(bleu.read_sacrebleu(printed, findings, losses, system=system), out, findings, losses, json=as_json)


@click.command("to-trec-eval", epilog=example("basanite convert to-trec-eval ranking.json --out printed.txt"))
@click.argument("result", type=PATH)
@out_option("The file to write")
@as_json
def to_trec_eval(result: Path, out: Path, as_json: bool) -> None:
    """Convert RESULT, the output of `score ranking --json`, to the form of trec_eval."""
    reported = reported_of(result, program=trec.TREC_EVAL, task="ranking", unit="query")
    losses = Losses(result.name)
    _write_lines(trec.trec_eval_lines(reported, losses), out, losses, reported, source=result, json=as_json)


@click.command("to-sacrebleu", epilog=example("basanite convert to-sacrebleu translation.json --out printed.json"))
@click.argument("result", type=PATH)
@out_option("The file to write")
@as_json
def to_sacrebleu(result: Path, out: Path, as_json: bool) -> None:
    """Convert RESULT, the output of `score translation --json`, to sacreBLEU's JSON."""
    reported = reported_of(result, program=bleu.SACREBLEU, task=bleu.TASK, unit="segment")
    losses = Losses(result.name)
    _write_lines([bleu.sacrebleu_text(reported, losses)], out, losses, reported, source=result, json=as_json)


def _write_result(reported: Reported | None, out: Path, findings: Findings, losses: Losses, *, json: bool) -> None:
    findings.extend(losses.problems())
    text = canonical.dumps(result_object(reported)) if reported else ""
    write_text([text], out, findings, source=out)
    finish(findings, out, json=json, counts={"values": len(reported.figures) if reported else 0})


def _write_lines(
    lines: Iterable[str], out: Path, losses: Losses, reported: Reported, *, source: Path, json: bool
) -> None:
    findings, made = Findings(), list(lines)
    findings.extend(losses.problems())
    write_text(made, out, findings, source=source)
    finish(findings, out, json=json, counts={"values": len(reported.figures)})


@click.group(
    epilog=example("basanite convert run run.txt --documents documents.txt --top 5 --out Converted.tgz"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def convert() -> None:
    """Convert files of other programs: TREC, WMT, STM and CTM, results of trec_eval and sacreBLEU.

    Each command lists what it could not convert. A run ranks some documents and makes no decisions; a submission
    decides on and scores every document. So `run` needs the list of documents and a decision rule, and `to-run` drops
    the
    decisions.
    """


def list_options(command: Command) -> Command:
    """Add `--documents` and `--queries`."""
    for option in (
        click.option("--queries", type=PATH, help="The list of queries, one per line; without it, those in the file."),
        click.option("--documents", type=PATH, required=True, help="The list of all documents, one per line."),
    ):
        command = option(command)
    return command


def finite_share(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """A threshold between 0 and 1, where all confidences lie."""
    if value is not None and not (math.isfinite(value) and 0 <= value <= 1):
        raise click.BadParameter("confidences lie between 0.0 and 1.0, so a threshold must, too.", ctx, param)
    return value


@convert.command(
    "run", epilog=example("basanite convert run run.txt --documents documents.txt --threshold 0.5 --out Converted.tgz")
)
@click.argument("run", type=PATH)
@list_options
@click.option(
    "--threshold", type=float, callback=finite_share, help="Return documents that score at least this (0 to 1)."
)
@click.option("--top", type=click.IntRange(1), help="Return this many top documents of each query.")
@click.option(
    "--scale",
    type=click.Choice(["none", "minmax"]),
    default="none",
    show_default=True,
    help="Map the run's scores to 0..1 by their minimum and maximum.",
)
@out_option("The submission to write: a folder or a .tgz")
@as_json
def from_run(
    run: Path,
    documents: Path,
    queries: Path | None,
    threshold: float | None,
    top: int | None,
    scale: Scale,
    out: Path,
    as_json: bool,
) -> None:
    """Convert a TREC run to a submission with a line for every document of every query."""
    if (threshold is None) == (top is None):
        raise click.UsageError("A run decides nothing by itself: give either --threshold or --top.")
    decision = Decision(threshold, top)
    findings = trec_conversion.convert_run(
        run, out, documents=documents, decision=decision, queries=queries, scale=scale
    )
    finish(findings, out, json=as_json)


@convert.command("qrels", epilog=example("basanite convert qrels qrels.txt --documents documents.txt --out newkey"))
@click.argument("qrels", type=PATH)
@list_options
@click.option("--least", type=int, default=1, show_default=True, help="The lowest grade that counts as relevant.")
@out_option("The key to write: a folder or a .tgz")
@as_json
def from_qrels(qrels: Path, documents: Path, queries: Path | None, least: int, out: Path, as_json: bool) -> None:
    """Convert TREC qrels to a reference; documents without a grade are not relevant."""
    findings = trec_conversion.convert_qrels(qrels, out, documents=documents, queries=queries, least=least)
    finish(findings, out, json=as_json)


@convert.command("to-run", epilog=example("basanite convert to-run Alpha.tgz --out alpha.run --tag Alpha"))
@click.argument("submission", type=PATH)
@click.option("--tag", default="basanite", show_default=True, help="The tag in the last column.")
@click.option("--returned-only", is_flag=True, help="Leave out documents whose decision is N.")
@out_option("The run to write")
@as_json
def to_run(submission: Path, tag: str, returned_only: bool, out: Path, as_json: bool) -> None:
    """Convert SUBMISSION to a TREC run."""
    if not trec_conversion.is_name(tag):
        raise click.UsageError(f"--tag {tag!r} cannot be used: it is one column of the run, so it has no blanks.")
    finish(trec_conversion.export_run(submission, out, tag=tag, returned_only=returned_only), out, json=as_json)


@convert.command("to-qrels", epilog=example("basanite convert to-qrels key/ --out key.qrels"))
@click.argument("key", type=PATH)
@out_option("The qrels to write")
@as_json
def to_qrels(key: Path, out: Path, as_json: bool) -> None:
    """Convert the reference KEY to TREC qrels."""
    finish(trec_conversion.export_qrels(key, out), out, json=as_json)


for command in (wmt, to_wmt, stm, to_stm, ctm, to_ctm, trec_eval, to_trec_eval, sacrebleu, to_sacrebleu):
    convert.add_command(command)
