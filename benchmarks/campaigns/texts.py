"""Sentences: translated, transcribed, parsed, given probabilities; images that are described; texts that are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from basanite.synthetic.captions import describe_images
from basanite.synthetic.treebank import Parser, Treebank, tree_text
from campaigns.world import POPULATION, Generator, Pick, World, chance, shared, write_lines

VOCABULARY = 2000


def _words(rng: Generator, size: int) -> list[str]:
    """Frequent words and rare ones."""
    return [f"w{rank}" for rank in np.minimum(rng.zipf(1.3, size), VOCABULARY)]


def _changed(words: Sequence[str], error: float, rng: Generator) -> str:
    """The sentence with some words replaced, dropped or doubled."""
    kept: list[str] = []
    for word, other, die in zip(words, _words(rng, len(words)), rng.random(len(words)), strict=True):
        kept += [] if die < error / 4 else [other] if die < error else [word, other] if die > 1 - error / 5 else [word]
    return " ".join(kept)


def _sentences(rng: Generator) -> tuple[list[str], list[str]]:
    said = [_words(rng, size) for size in rng.integers(4, 20, POPULATION)]
    errors = chance(shared(rng), -1.3, 0.7)
    answers = [_changed(words, error, rng) for words, error in zip(said, errors, strict=True)]
    return [" ".join(words) for words in said], answers


def _lines_of_items(
    cluster: str, references: Sequence[str], answers: Sequence[str], folder: Path, picks: Sequence[Pick]
) -> Mapping[str, Any]:
    key = [
        json.dumps({"id": p.name, "references": [references[p.unit]], **({cluster: p.cluster} if p.cluster else {})})
        for p in picks
    ]
    given = [json.dumps({"id": p.name, "text": answers[p.unit]}) for p in picks]
    return {
        "reference": write_lines(folder / "reference.jsonl", key),
        "submission": write_lines(folder / "answers.jsonl", given),
    }


def translation(rng: Generator) -> World:
    """Segments of 4 to 19 words, a quarter of them wrong, more in some documents than in others."""
    return World("translation", partial(_lines_of_items, "document", *_sentences(rng)), {"translation": ()})


def speech(rng: Generator) -> World:
    """Utterances of the same kind; some speakers are harder to understand."""
    return World("speech", partial(_lines_of_items, "speaker", *_sentences(rng)), {"speech": ()})


def lm(rng: Generator) -> World:
    """Sentences of 3 to 39 tokens; the mean surprise of a token differs between sentences, and so do words' lengths."""
    tokens = rng.integers(3, 40, POPULATION)
    scale, share = 4 * np.exp(0.3 * shared(rng)), rng.uniform(0.1, 1, POPULATION)
    logs = [-rng.exponential(one, size) for one, size in zip(scale, tokens, strict=True)]
    unknown = [np.flatnonzero(rng.random(size) < one / 20) + 1 for one, size in zip(share, tokens, strict=True)]
    words = np.maximum(rng.binomial(tokens, 0.8), 1)
    sizes = np.column_stack([words, words + rng.poisson(4 * words), 2 * words + rng.poisson(4 * words)])
    return World("lm", partial(_write_logs, logs, unknown, sizes), {"perplexity": ()})


def _write_logs(logs: Any, unknown: Any, sizes: Any, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    names = ("tokens", "words", "characters", "bytes")
    key = [
        {
            "id": p.name,
            **dict(zip(names, (len(logs[p.unit]), *sizes[p.unit].tolist()), strict=True)),
            **({"document": p.cluster} if p.cluster else {}),
        }
        for p in picks
    ]
    given = [
        {"id": p.name, "logprobs": np.round(logs[p.unit], 6).tolist(), "oov": unknown[p.unit].tolist()} for p in picks
    ]
    return {
        "reference": write_lines(folder / "tokens.jsonl", map(json.dumps, key)),
        "submission": write_lines(folder / "answers.jsonl", map(json.dumps, given)),
    }


def parsing(rng: Generator) -> World:
    """Sentences of a small grammar; those of some documents are hard."""
    bank = Treebank(int(rng.integers(1 << 30)))
    trees, hard = list(bank.trees(POPULATION)), chance(shared(rng), -1.3, 0.7)
    parsers = [Parser(error, error / 3, error / 3, error / 5, error / 3) for error in hard]
    gold = [tree_text(tree) for tree in trees]
    answers = [tree_text(bank.parse(tree, parser)) for tree, parser in zip(trees, parsers, strict=True)]
    return World(
        "parsing", partial(_write_trees, gold, answers), {"parsing": ()}, names=("id", lambda at, _: str(at + 1))
    )


def _write_trees(gold: Sequence[str], answers: Sequence[str], folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    return {
        "reference": write_lines(folder / "gold.trees", [gold[p.unit] for p in picks]),
        "submission": write_lines(folder / "answers.trees", [answers[p.unit] for p in picks]),
    }


def captions(rng: Generator) -> World:
    """Images of made scenes, described by five people and a system."""
    images = describe_images(POPULATION, seed=int(rng.integers(2**31)), words=2000, quality=0.7)
    write, names = partial(_write_captions, images), ("id", lambda at, _: str(at + 1))
    return World("captions", write, {"captions": ()}, names=names, of_size=("cider_d", "cider", "fusion"))


def _write_captions(images: Sequence[Any], folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    said = [{"image_id": at, "caption": text} for at, p in enumerate(picks, 1) for text in images[p.unit].references]
    given = [{"image_id": at, "caption": images[p.unit].answer} for at, p in enumerate(picks, 1)]
    reference, submission = folder / "captions.json", folder / "answers.json"
    reference.write_text(json.dumps({"annotations": said}))
    submission.write_text(json.dumps(given))
    return {"reference": reference, "submission": submission}


PACKAGE = """format = "basanite-reading-package/1"
name = "simulated"
version = "1"
title = "Simulated"
licence = "CC0-1.0"
citation = "nobody"
namespace = "urn:t:"
[parts.test]
[[phases]]
name = "1"
in_scope = ["anaphora"]
target_ratio = 0.5
documents = 3
preparation_days = 1
"""
ONTOLOGY = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix ts: <urn:basanite:reading:> .
@prefix : <urn:t:> .
:Game a owl:Class ; ts:mark ts:target .
:Team a owl:Class ; ts:mark ts:target .
:winner a owl:ObjectProperty ; <http://www.w3.org/2000/01/rdf-schema#domain> :Game ; \
<http://www.w3.org/2000/01/rdf-schema#range> :Team ; ts:mark ts:target .
"""
QUERIES = """format: basanite-queries/1
queries:
  - query: winners
    find: ["?G type Game", "?G winner ?T"]
    select: ["?T"]
"""


def reading(rng: Generator) -> World:
    """Documents with two to six facts and none to three inferences; some are harder than others for everybody."""
    gold = np.stack([rng.integers(2, 7, POPULATION), rng.integers(0, 4, POPULATION)], axis=1)
    ease = chance(shared(rng), 0.7, 0.8)
    machine = [_found(counts, one, rng) for counts, one in zip(gold, ease, strict=True)]
    human = [_found(counts, 0.6 + 0.4 * one, rng) for counts, one in zip(gold, ease, strict=True)]
    return World(
        "reading",
        partial(_write_package, gold, machine, human),
        {"reading": ()},
        names=("document", lambda _, pick: f"d{pick.name}"),
    )


def _found(gold: Any, ease: float, rng: Generator) -> list[tuple[str, str]]:
    """What one side answers of a document: name and kind; some gold is found, something else is added."""
    right = [
        (f"{kind}{at}", kind)
        for kind, count, share in zip(("explicit", "inferred"), gold, (ease, 0.7 * ease), strict=True)
        for at in np.flatnonzero(rng.random(count) < share)
    ]
    wrong = [(f"wrong{at}", rng.choice(["explicit", "inferred"])) for at in range(rng.poisson(0.8))]
    return right + wrong


def _write_package(
    gold: Any, machine: Sequence[Any], human: Sequence[Any], folder: Path, picks: Sequence[Pick]
) -> Mapping[str, Any]:
    package = folder / "package"
    for place in ("corpus/test", "gold", "annotations", "queries"):
        (package / place).mkdir(parents=True)
    texts = {f"d{p.name}": f"What {p.name} tells.\n" for p in picks}
    for name, text in texts.items():
        (package / "corpus" / "test" / f"{name}.txt").write_text(text)
    digests = [f"{hashlib.sha256(text.encode()).hexdigest()}  test/{name}.txt" for name, text in texts.items()]
    write_lines(package / "corpus" / "test.sha256", digests)
    (package / "package.toml").write_text(PACKAGE)
    (package / "ontology.ttl").write_text(ONTOLOGY)
    (package / "guidelines.md").write_text("Read.\n")
    (package / "annotations" / "test.ndjson").write_text("")
    (package / "queries" / "queries.yaml").write_text(QUERIES)
    kinds = ("explicit", "inferred")
    facts = [[(f"{kind}{at}", kind) for kind, n in zip(kinds, one, strict=True) for at in range(n)] for one in gold]
    write_lines(package / "gold" / "v1.ndjson", _answers(facts, picks))
    return {
        "reference": package,
        "submission": write_lines(folder / "machine.ndjson", _answers(machine, picks)),
        "human": write_lines(folder / "human.ndjson", _answers(human, picks)),
    }


def _answers(found: Sequence[Any], picks: Sequence[Pick]) -> list[str]:
    return [
        json.dumps({"query": "winners", "document": f"d{p.name}", "answer": {"?T": [name]}, "kind": str(kind)})
        for p in picks
        for name, kind in found[p.unit]
    ]


WORLDS = {
    "translation": translation,
    "speech": speech,
    "lm": lm,
    "parsing": parsing,
    "captions": captions,
    "reading": reading,
}
