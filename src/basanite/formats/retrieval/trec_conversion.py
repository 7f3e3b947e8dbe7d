"""From TREC files to detection files and back: what `basanite convert` does (M84).

Nothing is written if anything in the input is wrong; the findings say what and where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from basanite.errors import UnreadableError
from basanite.formats.archives.archive import Member, open_source
from basanite.formats.archives.output import write_files, write_text
from basanite.formats.retrieval import trec
from basanite.formats.retrieval.trec_lines import NUMBER, RULE
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
    """The names in a list: one per line, blank lines left out, each name once."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path} cannot be read as a list of names: {error}.") from error
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def tables(path: Path, where: Where, findings: Findings) -> Iterator[Member]:
    """The files of a key or submission, one after the other; those whose names cannot be exported are noted."""
    for member in open_source(path, where=where).members(findings, hashed=False):
        if not member.name.endswith(".tsv"):
            findings.add(export_problem(member.name, None, member.name, where, "this is not a .tsv file"))
        elif not is_name(Path(member.name).stem):
            findings.add(export_problem(member.name, None, member.name, where, "a blank in the name of the query"))
        else:
            yield member


def cells(member: Member, shape: Sequence[Callable[[str], bool]], where: Where, findings: Findings) -> list[list[str]]:
    """The fields of each line of a file; lines of another shape are noted, `validate` says more about them."""
    found: dict[str, list[str]] = {}
    for number, line in enumerate(member.data.decode("utf-8", "backslashreplace").splitlines(), start=1):
        row = line.split("\t")
        if len(row) != len(shape) or not all(fits(cell) for fits, cell in zip(shape, row, strict=True)):
            findings.add(export_problem(member.name, number, line, where))
        elif found.setdefault(row[0], row) is not row:
            findings.add(export_problem(member.name, number, line, where, "a document that was listed before"))
    return list(found.values())


def export_problem(
    name: str, number: int | None, line: str, where: Where, message: str = "this line cannot be exported"
) -> Problem:
    """The problem of a line or a file that cannot be exported."""
    fix = "run `basanite validate` first and fix what it lists"
    return Problem(RULE, name, number, None, message, fix, found=shortened(line), where=where)


def is_name(cell: str) -> bool:
    """Whether a cell can stand in a TREC file, whose columns are separated by blanks."""
    return len(cell.split()) == 1 and cell == cell.strip()


def is_mark(cell: str) -> bool:
    """Whether a cell is a decision."""
    return cell in ("Y", "N")


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number."""
    return NUMBER.fullmatch(cell) is not None


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
