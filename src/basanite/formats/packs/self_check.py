"""What a folder of answers tells about itself when neither a key nor lists are at hand.

Every line is read with the usual checks; the documents of the first file stand for the set, and nobody can say here
whether a query or a document is missing from all files.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from basanite.formats.archives.archive import Source
from basanite.formats.archives.members import Member
from basanite.formats.retrieval.detection import read_answers
from basanite.formats.retrieval.detection_key import SUFFIX
from basanite.formats.retrieval.detection_lines import Layout, LineReader
from basanite.formats.retrieval.documents import Documents
from basanite.problems import Findings, Problem


def check_alone(source: Source, layout: Layout, findings: Findings) -> int:
    """Find what is wrong in itself; gives the number of files. Files in folders are checked by name only (C24)."""
    reader: LineReader | None = None
    files, folders = 0, dict[str, bool]()
    for member in source.members(findings):
        files += 1
        path = PurePosixPath(member.name)
        if path.suffix == SUFFIX and not member.data.strip():
            findings.add(_file_problem("M26", member.name, "this file is empty", "add a line for every document"))
        if source.depth > 1:
            findings.extend(_misplaced(path))
            folders[path.parts[0]] = folders.get(path.parts[0], False) or path.name == path.parts[0] + SUFFIX
        elif path.suffix != SUFFIX:
            findings.add(_file_problem("M25", member.name, "this is no .tsv file", "leave it out, or rename it"))
        elif member.data.strip():
            reader = reader or LineReader(_documents_of(member, layout.pattern), layout)
            if read_answers(member.data, reader.documents) is None:
                reader.read(member.data, member.name, findings)
    for folder in (folder for folder, has_table in folders.items() if not has_table):
        findings.add(_file_problem("M42", f"{folder}/", "the table of this query is missing", f"add {folder}{SUFFIX}"))
    return files


def _documents_of(member: Member, pattern: re.Pattern[str]) -> Documents:
    """The documents that a file lists, as far as they can be documents at all."""
    cells = {line.partition(b"\t")[0] for line in member.data.replace(b"\r", b"").split(b"\n")}
    return Documents(sorted(cell for cell in cells if pattern.fullmatch(cell.decode("utf-8", "replace"))))


def _misplaced(path: PurePosixPath) -> list[Problem]:
    """A file beside the folders of queries, or a table of another query in one."""
    if len(path.parts) == 1:
        return [_file_problem("M42", str(path), "this file is in no folder of a query", "put it in <QueryID>/")]
    if path.suffix == SUFFIX and path.stem != path.parts[0]:
        return [
            _file_problem("M42", str(path), "this table is named after another query", f"name it {path.parts[0]}.tsv")
        ]
    return []


def _file_problem(rule: str, file: str, message: str, fix: str) -> Problem:
    return Problem(rule, file, None, None, message, fix, file)
