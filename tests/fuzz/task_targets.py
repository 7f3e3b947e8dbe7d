"""Submissions of every task, and references of some, by the same way as `basanite validate` and `score`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.doors import score_logs
from tests.fuzz.target import EXAMPLES, Target, example, shown

import basanite
from basanite.errors import BasaniteError
from basanite.problems import Findings
from basanite.scoring import Scorer, find_task
from basanite.tasks import Inputs

TASKS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "clir": ("key", "tgz", ".tgz", {}),
    "e2e": ("key", "tgz", ".tgz", {}),
    "domainid": ("key", "tgz", ".tgz", {}),
    "langid": ("key", "tgz", ".tgz", {}),
    "ranking": ("qrels.txt", "text", ".run", {}),
    "labels": ("reference.csv", "text", ".csv", {}),
    "ratings": ("reference.csv", "text", ".csv", {}),
    "relevance": ("reference.csv", "text", ".csv", {}),
    "judged": ("calibration.jsonl", "ndjson", ".jsonl", {}),
    "readability": ("panels.csv", "text", ".csv", {}),
    "translation": ("reference.jsonl", "ndjson", ".jsonl", {}),
    "speech": ("reference.stm", "text", ".ctm", {}),
    "captions": ("captions.json", "json", ".json", {}),
    "questions": ("annotations.json", "json", ".json", {}),
    "summaries": ("reference.jsonl", "ndjson", ".jsonl", {}),
    "parsing": ("treebank.trees", "text", ".trees", {}),
    "dependencies": ("treebank.conllu", "text", ".conllu", {"trees": "any"}),
    "coreference": ("gold.conll", "text", ".conll", {}),
    "tagging": ("gold.iob", "text", ".iob", {}),
    "lm": ("tokens.jsonl", "ndjson", ".jsonl", {}),
    "classification": ("key.csv", "text", ".csv", {}),
    "representation": ("labels.csv", "text", ".csv", {}),
    "scores": ("items.csv", "text", ".csv", {}),
}
SENT = {
    "clir": "Alpha.tgz", "e2e": "Alpha.tgz", "domainid": "Alpha.tgz", "langid": "Alpha.tgz", "ranking": "alpha.run",
    "labels": "alpha.csv", "ratings": "alpha.csv", "relevance": "alpha.csv", "readability": "machine.csv",
    "judged": "terse.jsonl", "translation": "Alpha.jsonl", "speech": "Alpha.ctm", "captions": "Alpha.json",
    "parsing": "Alpha.trees",
    "lm": "Alpha.jsonl", "classification": "Alpha.csv", "questions": "Alpha.json",
    "representation": "beta.csv", "scores": "Alpha.csv", "dependencies": "Alpha.conllu", "tagging": "Alpha.iob",
    "summaries": "Alpha.jsonl", "coreference": "Alpha.conll",
}  # fmt: skip
OTHERS = {
    "speech trn": ("speech", b"the { cat / { cats / @ } } sat (a-1)\n(uh) yes (b-1)\n", ".trn", "text"),
    "speech kaldi": ("speech", b"utt1 the cat sat\nutt2 a dog ran\nutt3 yes\n", ".out", "text"),
    "questions squad": (
        "questions",
        b'{"data": [{"title": "t", "paragraphs": [{"context": "c", "qas": [{"id": "q1", "answers": []}]}]}]}',
        ".json",
        "json",
    ),
    "questions choice": ("questions", b'{"id": "1", "choices": ["red", "blue"], "answer": 1}\n', ".jsonl", "ndjson"),
    "translation sgm": (
        "translation",
        b'<refset setid="x"><DOC docid="d" sysid="A"><seg id="1">Hello there</seg></DOC></refset>\n',
        ".sgm",
        "text",
    ),
    "translation xml": (
        "translation",
        b'<dataset id="x"><doc id="d" origlang="de" domain="news"><src lang="de"><p><seg id="1">Ja</seg></p></src>'
        b'<ref lang="en"><p><seg id="1">Yes</seg></p></ref>'
        b'<hyp lang="en" system="A"><p><seg id="1">No</seg></p></hyp></doc></dataset>\n',
        ".xml",
        "text",
    ),
    "coreference universal": (
        "coreference",
        (EXAMPLES / "coreference" / "gold.conllu").read_bytes().partition(b"\n\n")[0] + b"\n\n",
        ".conllu",
        "text",
    ),
    "tagging senses": ("tagging", b"d000.s000.t000 art%1:09:00::\nd000.s000.t001 bn:00000001n\n", ".key", "text"),
    "classification tables": ("classification", b"y_true,y_pred,score\na,b,0.2\nb,b,0.9\na,a,0.1\n", ".csv", "text"),
    "parsing mrg": ("parsing", b"( (S\n  (NP (DT the))\n  (VP (VBD sat)) ))\n( (S (NP (PRP it)) ))\n", ".mrg", "text"),
}
"""Files in layouts of other tools, which stand on both sides."""
DEAR = {"e2e", "translation", "captions", "relevance", "readability", "speech"}


def targets() -> list[Target]:
    """All of them."""
    return [
        *map(_submission, TASKS),
        *(_reference(task) for task in TASKS if TASKS[task][1] != "tgz"),
        *(_other(name) for name in OTHERS),
        *map(_log, LOGS),
        *map(_explained, EXPLAINED),
        _judged(),
        *_models(),
    ]


def _submission(task: str) -> Target:
    reference, kind, ending, settings = TASKS[task]

    def read(data: bytes, place: Path) -> None:
        path = place / f"sent{ending}"
        path.write_bytes(data)
        _run(task, path, EXAMPLES / task / reference, settings)

    return Target(f"{task} submission", kind, example(f"{task}/{SENT[task]}"), read, 20 if task in DEAR else 8)


def _reference(task: str) -> Target:
    reference, kind, _, settings = TASKS[task]

    def read(data: bytes, place: Path) -> None:
        path = place / f"key{Path(reference).suffix}"
        path.write_bytes(data)
        _run(task, EXAMPLES / task / SENT[task], path, settings)

    return Target(f"{task} reference", kind, example(f"{task}/{reference}"), read, 20 if task in DEAR else 8)


def _other(name: str) -> Target:
    task, whole, ending, kind = OTHERS[name]

    def read(data: bytes, place: Path) -> None:
        bent, good = place / f"bent{ending}", place / f"good{ending}"
        bent.write_bytes(data)
        good.write_bytes(whole)
        _run(task, bent, good, {})
        _run(task, good, bent, {})

    return Target(name, kind, lambda: [whole], read, 20)


EXPLAINED = {
    "translation": b'{"id": "a", "references": ["the cat sat .", "a cat"], "text": "the cat cat"}\n',
    "speech": b'{"id": "a", "references": ["the { cat / cats } (uh) sat"], "text": "a cat sat down"}\n',
    "captions": b'{"id": "a", "references": ["a cat sat", "the cat"], "text": "a cat"}\n',
    "summaries": b'{"id": "a", "references": ["It rains. All day.", "Rain"], "text": "rain all day"}\n',
    "lm": b'{"id": "a", "logprobs": [-1, -2.5, "-inf"]}\n',
}
"""Tasks with explanations: one line that is both reference and submission."""


def _explained(task: str) -> Target:
    """What is valid is worked out on its first unit, to the very value of the metric."""

    def read(data: bytes, place: Path) -> None:
        path = place / "both.jsonl"
        path.write_bytes(data)
        settings = {"ter": "no"} if task == "translation" else {}
        inputs = Inputs(path).against([] if task == "lm" else [path])
        for name in find_task(task).explained_metrics:
            try:
                scorer = Scorer(task, settings)
                findings = Findings()
                found = scorer.open_submission(inputs, findings)
                units = found.pairs().units if found is not None and findings.valid else ()
                scorer.explanation(inputs, name, next(iter(units), "a"))
            except BasaniteError as refusal:
                str(refusal).encode()

    return Target(f"{task} explained", "ndjson", lambda: [EXPLAINED[task]], read, 2)


def _run(task: str, submission: Path, reference: Path, settings: dict[str, Any]) -> None:
    """What is valid must score too."""
    found = basanite.validate(task, submission=submission, reference=reference, **settings)
    shown(found)
    if found.valid:
        basanite.score(task, submission=submission, reference=reference, draws=2, **settings)


def _log(name: str) -> Target:
    """A log of scores: read, and scored if it is valid, whatever is missing in it."""
    kind, write, ending = LOGS[name]

    def seeds() -> list[bytes]:
        with tempfile.TemporaryDirectory() as folder:
            return [write(Path(folder) / f"log{ending}").read_bytes()]

    def read(data: bytes, place: Path) -> None:
        path = place / f"log{ending}"
        path.write_bytes(data)
        for missing in ("refuse", "skip", "lowest"):
            found = basanite.validate("scores", submission=path, missing=missing)
            shown(found)
            if found.valid:
                basanite.score("scores", submission=path, draws=2, missing=missing)

    return Target(name, kind, seeds, read, 4)


SAMPLES = [score_logs.sample(f"q{at}", epoch, at % 3 > 0) for epoch in (1, 2) for at in range(8)]
LOGS: dict[str, tuple[str, Callable[[Path], Path], str]] = {
    "scores inspect json": ("json", lambda path: score_logs.inspect_json(path, SAMPLES, epochs=2), ".json"),
    "scores inspect eval": ("text", lambda path: score_logs.inspect_eval(path, SAMPLES, epochs=2), ".eval"),
    "scores killed eval": ("text", lambda path: score_logs.inspect_eval(path, SAMPLES, summaries=False), ".eval"),
    "scores lm_eval": ("ndjson", lambda path: score_logs.lm_eval_samples(path, [{"acc": 1.0}] * 6), ".jsonl"),
    "scores promptfoo": ("json", lambda path: score_logs.promptfoo(path, {"a": [1, 0] * 4}), ".json"),
    "scores promptfoo lines": ("ndjson", lambda path: score_logs.promptfoo(path, {"a": [1, 0] * 4}), ".jsonl"),
    "scores invalidated": (
        "json",
        lambda path: score_logs.inspect_json(
            path, [*SAMPLES[1:], {**SAMPLES[0], "invalidation": {"reason": "x"}}], epochs=2, invalidated=True
        ),
        ".json",
    ),
    "scores deepeval": ("json", lambda path: score_logs.deepeval(path, [0.5, 1.0, 0.25]), ".json"),
    "scores every eval": ("ndjson", lambda path: score_logs.every_eval(path, [0.5, 1.0, 0.25]), ".jsonl"),
}


def _judged() -> Target:
    def read(data: bytes, place: Path) -> None:
        path = place / "judgements.tsv"
        path.write_bytes(data)
        e2e = EXAMPLES / "e2e"
        shown(basanite.validate("e2e", submission=e2e / "Alpha.tgz", reference=e2e / "key", judgements=path))

    return Target("e2e judgements", "text", example("e2e/Alpha.judgements.tsv"), read, 20)


def _models() -> list[Target]:
    """A language model, and what toolkits print, beside the sentences that they are about."""

    def read(data: bytes, place: Path) -> None:
        path = place / "sent.out"
        path.write_bytes(data)
        _run("lm", path, EXAMPLES / "lm" / "sentences.txt", {})

    return [Target(name, "text", example(f"lm/{name}"), read, 8) for name in ("small.arpa", "srilm.out", "kenlm.out")]


Read = Callable[[bytes, Path], object]
