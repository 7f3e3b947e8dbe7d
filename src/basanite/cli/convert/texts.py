"""`basanite convert wmt`, `stm`, `ctm` and back: test sets of translation and speech."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from basanite.cli.convert.sharing import finish, out_option
from basanite.cli.options import PATH, as_json, example
from basanite.errors import SettingError
from basanite.formats.foreign.losses import RULE, Losses
from basanite.formats.foreign.timed import (
    ctm_lines,
    ctm_records,
    read_segments,
    read_words,
    stm_lines,
    stm_records,
)
from basanite.formats.foreign.wmt import read_wmt, write_wmt
from basanite.formats.foreign.wmt_files import Given, files_of, read_files, system_of
from basanite.formats.records import Place
from basanite.formats.retrieval.conversion import refuse_to_overwrite, write_files, write_text
from basanite.formats.texts.ctm_stm import read_ctm, read_stm
from basanite.problems import Findings


@click.command("wmt", epilog=example("basanite convert wmt newstest.xml --out newstest"))
@click.argument("xml", type=PATH)
@out_option("The folder to write")
@as_json
def wmt(xml: Path, out: Path, as_json: bool) -> None:
    """Write the test set in XML, a file of WMT, as the files that `translation` reads.

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
@click.option("--submission", "submissions", multiple=True, metavar="[NAME=]FILE", help="A system's. Repeat it.")
@out_option("The XML file to write")
@as_json
def to_wmt(source: Path, reference: Path | None, submissions: tuple[str, ...], out: Path, as_json: bool) -> None:
    """Write the segments in SOURCE, with references and translations of systems, as a test set of WMT."""
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
    """Write the segments of the file STM as a reference of `speech`."""
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
    """Write REFERENCE as STM; its records say recording, channel, speaker, start and end."""
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
    """Write the words of the file CTM as a submission of `speech`, by the segments of the reference."""
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
    """Write SUBMISSION as CTM; its records say recording and channel, and words with their times."""
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
