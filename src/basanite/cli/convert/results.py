"""`basanite convert trec-eval`, `sacrebleu` and back: results of other programs, to be compared with ours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from basanite.cli.convert.sharing import finish, out_option
from basanite.cli.options import PATH, as_json, example
from basanite.formats.foreign import sacrebleu_json as bleu
from basanite.formats.foreign import trec_eval as trec
from basanite.formats.foreign.losses import Losses
from basanite.formats.foreign.reported import Reported
from basanite.formats.retrieval.conversion import write_text
from basanite.problems import Findings
from basanite.reports.formats import json_output
from basanite.reports.kinds.foreign import reported_of, result_object


@click.command("trec-eval", epilog=example("basanite convert trec-eval trec_eval.txt --out theirs.json"))
@click.argument("printed", type=PATH)
@out_option("The result to write, .json")
@as_json
def trec_eval(printed: Path, out: Path, as_json: bool) -> None:
    """Write what trec_eval PRINTED, with -q or without, as a result that `compare --result` shows beside others."""
    findings, losses = Findings(), Losses(printed.name)
    _write_result(trec.read_trec_eval(printed, findings, losses), out, findings, losses, json=as_json)


@click.command("sacrebleu", epilog=example("basanite convert sacrebleu sacrebleu.json --out theirs.json"))
@click.argument("printed", type=PATH)
@click.option("--system", default="", help="Which system, where the file has several.")
@out_option("The result to write, .json")
@as_json
def sacrebleu(printed: Path, system: str, out: Path, as_json: bool) -> None:
    """Write what sacreBLEU PRINTED as JSON as a result that `compare --result` shows beside others."""
    findings, losses = Findings(), Losses(printed.name)
    _write_result(bleu.read_sacrebleu(printed, findings, losses, system=system), out, findings, losses, json=as_json)


@click.command("to-trec-eval", epilog=example("basanite convert to-trec-eval ranking.json --out printed.txt"))
@click.argument("result", type=PATH)
@out_option("The file to write")
@as_json
def to_trec_eval(result: Path, out: Path, as_json: bool) -> None:
    """Write RESULT, what `score ranking --json` printed, in the form of trec_eval."""
    reported = reported_of(result, program=trec.PROGRAM, task="ranking", unit="query")
    losses = Losses(result.name)
    _write_lines(trec.trec_eval_lines(reported, losses), out, losses, reported, source=result, json=as_json)


@click.command("to-sacrebleu", epilog=example("basanite convert to-sacrebleu translation.json --out printed.json"))
@click.argument("result", type=PATH)
@out_option("The file to write")
@as_json
def to_sacrebleu(result: Path, out: Path, as_json: bool) -> None:
    """Write RESULT, what `score translation --json` printed, as sacreBLEU's JSON."""
    reported = reported_of(result, program=bleu.PROGRAM, task=bleu.TASK, unit="segment")
    losses = Losses(result.name)
    _write_lines([bleu.sacrebleu_text(reported, losses)], out, losses, reported, source=result, json=as_json)


def _write_result(reported: Reported | None, out: Path, findings: Findings, losses: Losses, *, json: bool) -> None:
    findings.extend(losses.problems())
    text = json_output.dumps(result_object(reported)) if reported else ""
    write_text([text], out, findings, source=out)
    finish(findings, out, json=json, counts={"values": len(reported.figures) if reported else 0})


def _write_lines(
    lines: Iterable[str], out: Path, losses: Losses, reported: Reported, *, source: Path, json: bool
) -> None:
    findings, made = Findings(), list(lines)
    findings.extend(losses.problems())
    write_text(made, out, findings, source=source)
    finish(findings, out, json=json, counts={"values": len(reported.figures)})
