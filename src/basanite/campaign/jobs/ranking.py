"""The first documents of a submitted run for each query, for pools: strangers' files are read in the child alone (M95).

Nothing else of a run leaves the child: neither scores nor decisions, and not one document beyond the depth asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from basanite.campaign.jobs.showing import ARCHIVE
from basanite.formats.archives.archive import open_source
from basanite.formats.retrieval.conversion import answers_of
from basanite.formats.retrieval.detection_key import SUFFIX
from basanite.formats.retrieval.trec import Reader, ranked, read_run
from basanite.problems import Findings

RANKED: Final = "ranked.json"
RUNS: Final = frozenset({"ranking"})
"""Tasks whose submissions are TREC runs; those of all others here are archives with a table for each query."""


def first_documents(submission: Path, task: str, depth: int, findings: Findings) -> dict[str, list[str]]:
    """For each query its first documents by falling score; the run was found valid before, so nothing should be."""
    return dict((_of_run if task in RUNS else _of_archive)(submission, depth, findings))


def _of_run(path: Path, depth: int, findings: Findings) -> Iterator[tuple[str, list[str]]]:
    run = read_run(Reader(path, findings, "submission", names_files=False))
    return ((query, ranked(scores)[:depth]) for query, scores in run.items())


def _of_archive(path: Path, depth: int, findings: Findings) -> Iterator[tuple[str, list[str]]]:
    for member in open_source(path, limits=ARCHIVE, depth=2).members(findings, hashed=False):
        if member.name.endswith(SUFFIX):
            found = answers_of(member, findings)
            yield found.query, ranked(dict(zip(found.documents, found.confidence, strict=True)))[:depth]
