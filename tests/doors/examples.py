"""The shipped example of every scored task: its submission, what it is scored against, and how it is scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DRAWS = 50
"""Resamples of an interval; each door computes the same ones."""


@dataclass(frozen=True)
class Example:
    """One task as `examples/` ships it, with paths below its folder."""

    submission: str
    reference: str
    calendar: str = ""
    """The task's name in the calendar, where it has one of its own."""
    metadata: tuple[str, ...] = ()
    judgements: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    queryset: str = ""
    folder: str = ""
    archive_part: str = ""
    """What a full archive name says between condition and label (M56)."""

    def path(self, task: str, name: str) -> Path:
        return EXAMPLES / (self.folder or task) / name

    def home(self, task: str) -> list[str | Path]:
        """The arguments with which the file is scored at home."""
        given = ["--reference", self.path(task, self.reference), "--submission", self.path(task, self.submission)]
        for name in self.metadata:
            given += ["--metadata", self.path(task, name)]
        if self.judgements:
            given += ["--judgements", self.path(task, self.judgements)]
        for name, value in self.settings.items():
            given += ["--set", f"{name}={value}"]
        return [*given, "--draws", str(DRAWS), "--seed", "7", "--json"]


BY_TASK = {
    "captions": Example("Alpha.json", "captions.json"),
    "classification": Example("Alpha.csv", "key.csv", metadata=("metadata.csv",)),
    "clir": Example(
        "Alpha.tgz",
        "key",
        "CLIR",
        metadata=("metadata/documents.tsv", "metadata/queries.tsv"),
        queryset="QUERY1",
        archive_part="QUERY1-",
    ),
    "coreference": Example("Alpha.conll", "gold.conll"),
    "dependencies": Example("Alpha.conllu", "treebank.conllu"),
    "domainid": Example("Alpha.tgz", "key", "DomainID", archive_part="BUS-GOV-LAW-LIF-SPO-"),
    "e2e": Example(
        "Alpha.tgz",
        "key",
        "E2E",
        judgements="Alpha.judgements.tsv",
        settings={"teams": "FLAIR", "unjudged": "undefined"},
        queryset="QUERY1",
        archive_part="QUERY1-",
    ),
    "judged": Example("terse.jsonl", "calibration.jsonl"),
    "labels": Example("alpha.csv", "reference.csv"),
    "langid": Example("Alpha.tgz", "key", "LangID"),
    "lm": Example("Alpha.jsonl", "tokens.jsonl"),
    "parsing": Example("Alpha.trees", "treebank.trees"),
    "questions": Example("Alpha.json", "annotations.json"),
    "ranking": Example("alpha.run", "qrels.txt"),
    "ratings": Example("alpha.csv", "reference.csv"),
    "readability": Example("machine.csv", "panels.csv"),
    "reading": Example("answers/baseline.ndjson", ".", folder="reading/nfl"),
    "relevance": Example("alpha.csv", "reference.csv"),
    "representation": Example("alpha.npz", "labels.csv"),
    "scores": Example("Alpha.csv", "items.csv"),
    "speech": Example("Alpha.ctm", "reference.stm"),
    "summaries": Example("Alpha.jsonl", "reference.jsonl"),
    "tagging": Example("Alpha.iob", "gold.iob"),
    "translation": Example("Alpha.jsonl", "reference.jsonl"),
}
