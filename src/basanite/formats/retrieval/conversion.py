"""From TREC files to detection files and back: what `basanite convert` does (M84).

Nothing is written if anything in the input is wrong; the findings say what and where.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from basanite.errors import SettingError, UnreadableError
from basanite.formats.archives.archive import Member, open_source
from basanite.formats.archives.repair import ARCHIVE_NAMES, place_of_draft, put_in_place, write_archive
from basanite.formats.retrieval import trec
from basanite.problems import Findings, Problem, Where, shortened


def convert_run(
    run: Path,
    out: Path,
    *,
    documents: Path,
    decision: trec.Decision,
    queries: Path | None = None,
    scale: trec.Scale = "none",
) -> Findings:
    """Write a TREC run as a submission, a folder or a `.tgz`; lists of names have one name a line."""
    findings = Findings()
    expected = None if queries is None else names(queries)
    rows = trec.run_to_answers(run, names(documents), findings, decision, queries=expected, scale=scale)
    write_files(((f"{row.query}.tsv", trec.answer_text(row)) for row in rows), out, findings)
    return findings


def convert_qrels(qrels: Path, out: Path, *, documents: Path, queries: Path | None = None, least: int = 1) -> Findings:
    """Write TREC qrels as a key, a folder or a `.tgz`."""
    findings = Findings()
    expected = None if queries is None else names(queries)
    rows = trec.qrels_to_key(qrels, names(documents), findings, queries=expected, least=least)
    write_files(((f"{row.query}.tsv", trec.key_text(row)) for row in rows), out, findings)
    return findings


def export_run(submission: Path, out: Path, *, tag: str = "basanite", returned_only: bool = False) -> Findings:
    """Write a submission as a TREC run."""
    findings = Findings()
    rows = (answers_of(member, findings) for member in tables(submission, "submission", findings))
    write_text(trec.submission_to_run(rows, tag, returned_only=returned_only), out, findings, source=submission)
    return findings


def export_qrels(reference: Path, out: Path) -> Findings:
    """Write a key as TREC qrels."""
    findings = Findings()
    rows = (key_of(member, findings) for member in tables(reference, "reference", findings))
    write_text(trec.key_to_qrels(rows), out, findings, source=reference)
    return findings


def names(path: Path) -> list[str]:
    """The names in a list: one a line, blank lines left out, each name once."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path} cannot be read as a list of names: {error}.") from error
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def tables(path: Path, where: Where, findings: Findings) -> Iterator[Member]:
    """The files of a key or submission, one after the other; those whose names cannot be exported are noted."""
    for member in open_source(path, where=where).members(findings, hashed=False):
        if not member.name.endswith(".tsv"):
            findings.add(malformed(member.name, None, member.name, where, "this is no .tsv file"))
        elif not is_name(Path(member.name).stem):
            findings.add(malformed(member.name, None, member.name, where, "a blank in the name of the query"))
        else:
            yield member


def cells(member: Member, shape: Sequence[Callable[[str], bool]], where: Where, findings: Findings) -> list[list[str]]:
    """The fields of each line of a file; lines of another shape are noted, `validate` says more about them."""
    found: dict[str, list[str]] = {}
    for number, line in enumerate(member.data.decode("utf-8", "backslashreplace").splitlines(), start=1):
        row = line.split("\t")
        if len(row) != len(shape) or not all(fits(cell) for fits, cell in zip(shape, row, strict=True)):
            findings.add(malformed(member.name, number, line, where))
        elif found.setdefault(row[0], row) is not row:
            findings.add(malformed(member.name, number, line, where, "a document that was listed before"))
    return list(found.values())


def malformed(
    name: str, number: int | None, line: str, where: Where, message: str = "this line cannot be exported"
) -> Problem:
    """The problem of a line or a file that cannot be exported."""
    fix = "run `basanite validate` first and mend what it lists"
    return Problem(trec.RULE, name, number, None, message, fix, found=shortened(line), where=where)


def is_name(cell: str) -> bool:
    """Whether a cell can stand in a TREC file, whose columns are separated by blanks."""
    return len(cell.split()) == 1 and cell == cell.strip()


def is_mark(cell: str) -> bool:
    """Whether a cell is a decision."""
    return cell in ("Y", "N")


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number."""
    return trec.NUMBER.fullmatch(cell) is not None


def answers_of(member: Member, findings: Findings) -> trec.AnswerFile:
    """One file of a submission as rows."""
    rows = cells(member, (is_name, is_mark, is_number), "submission", findings)
    query = Path(member.name).stem
    return trec.AnswerFile(
        query, [row[0] for row in rows], [row[1] == "Y" for row in rows], [float(row[2]) for row in rows]
    )


def key_of(member: Member, findings: Findings) -> trec.KeyFile:
    """One file of a key as rows."""
    rows = cells(member, (is_name, is_mark), "reference", findings)
    return trec.KeyFile(Path(member.name).stem, [row[0] for row in rows], [row[1] == "Y" for row in rows])


def write_files(members: Iterable[tuple[str, bytes]], out: Path, findings: Findings) -> None:
    """Write files into an archive or a folder, unless something was wrong."""
    refuse_to_overwrite(out)
    if not findings.valid:
        return
    if out.name.endswith(ARCHIVE_NAMES):
        write_archive(members, out)
        return
    with whole_or_absent(out) as draft:
        draft.mkdir()
        for name, content in members:
            (draft / name).parent.mkdir(exist_ok=True)
            (draft / name).write_bytes(content)


def write_text(lines: Iterable[str], out: Path, findings: Findings, *, source: Path) -> None:
    """Write lines into a file that appears when it is whole, unless something was wrong by then."""
    refuse_to_overwrite(out)
    with whole_or_absent(out, source) as draft:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        if not findings.valid:
            draft.unlink()


@contextmanager
def whole_or_absent(out: Path, source: Path | None = None) -> Iterator[Path]:
    """A place outside the source to write at; what is there in the end is renamed, so `out` is never half written."""
    try:
        place = place_of_draft(out, source)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", suffix=".part", dir=place) as folder:
            draft = Path(folder) / "draft"
            yield draft
            if draft.exists():
                put_in_place(draft, out)
    except OSError as error:
        raise UnreadableError(
            f"{out} cannot be written: {error.strerror or error}. Check the folder and your rights."
        ) from error


def refuse_to_overwrite(out: Path) -> None:
    """Stop before anything that exists is written over."""
    if os.path.lexists(out):
        raise SettingError(f"{out} exists already. Choose another name: nothing is ever written over.")
