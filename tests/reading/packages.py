"""A small reading package to spoil: two open documents and a sealed one, with ontology and rules of the example."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from basanite.problems import Findings
from basanite.reading.ontology_file import read_ontology
from basanite.reading.patterns import Prefixes, parse_pattern, parse_statement
from basanite.reading.provenance import span_at

NFL = Path(__file__).resolve().parents[2] / "examples" / "reading" / "nfl"
NAMESPACE = "https://nfl.example/scoring#"
PREFIXES = Prefixes(NAMESPACE, {"nfl": NAMESPACE})

TEXTS = {
    "train/d1": "The Jets fell to the Steelers, 20-17, in overtime on Saturday.\n",
    "train/d2": "Atlanta beat Dallas. It took five periods – naïve fans left early.\n",
    "test/d3": "The Bears beat the Packers in overtime.\n",
}
SAID = [
    ("d1", "g1 type NFLGame", None),
    ("d1", "g1 hasOvertimePlay true", ("statement", "in overtime")),
    ("d1", "g1 gameWinner Steelers", ("object", "the Steelers")),
    ("d1", "Steelers type NFLTeam", ("subject", "Steelers")),
    ("d1", "g1 teamFinalScoreInGame _:s", None),
    ("d1", "_:s type TeamSummaryScore", None),
    ("d1", "_:s teamScoringAll Steelers", ("object", "Steelers")),
    ("d1", "_:s pointsScored 20", ("object", "20")),
    ("d2", "g2 type NFLGame", None),
    ("d2", "g2 numberOfPeriods 5", ("object", "five periods")),
    ("d3", "g3 type NFLGame", None),
    ("d3", "g3 hasOvertimePlay true", ("statement", "in overtime")),
]
MANIFEST = """format = "basanite-reading-package/1"
name = "small"
version = "0.1"
title = "A small package"
licence = "CC0-1.0"
citation = "Nobody: A small package."
namespace = "https://nfl.example/scoring#"
[prefixes]
nfl = "https://nfl.example/scoring#"
[parts.train]
[parts.test]
sealed = true
[[phases]]
name = "1"
in_scope = ["anaphora"]
target_ratio = 0.5
documents = 100
preparation_days = 90
[[phases]]
name = "2"
in_scope = ["anaphora", "temporal"]
target_ratio = 0.75
documents = 1000
preparation_days = 30
"""
QUERIES = """format: basanite-queries/1
queries:
  - query: periods
    find: ["?G type NFLGame", "?G numberOfPeriods ?N"]
  - query: points
    type: chain
    question: How many points?
    capabilities: [temporal]
    find: ["?G teamFinalScoreInGame ?S", "?S pointsScored ?P", "?P > 3"]
    select: ["?G", "?P"]
"""
BEHIND = {"by": "panel", "when": "2026-01-31", "why": "annotated"}
GOLD = [
    {"query": "periods", "document": "d2", "answer": {"?G": ["the game"], "?N": "5"}, "kind": "explicit", **BEHIND},
    {"query": "periods", "document": "d3", "answer": {"?G": ["the game"], "?N": "5"}, "kind": "inferred", **BEHIND},
]


def line(document, said, words):
    """One annotated statement, as it stands in the file."""
    text = next(text for name, text in TEXTS.items() if name.endswith(f"/{document}"))
    spans = []
    if words:
        start = text.index(words[1])
        span = span_at(text, start, start + len(words[1]), words[0], context=8)
        spans = [{name: getattr(span, name) for name in ("role", "start", "end", "exact", "prefix", "suffix")}]
    record = {"document": document, "statement": said.split(), "kind": "explicit", "annotator": "A1", "version": 1}
    return json.dumps({**record, "provenance": spans}, ensure_ascii=False)


def small_package(root: Path) -> Path:
    """Write the package."""
    for name, text in TEXTS.items():
        path = root / "corpus" / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for folder in ("annotations", "queries", "gold"):
        (root / folder).mkdir()
    for part, names in (("train", ("d1", "d2")), ("test", ("d3",))):
        sums = [f"{hashlib.sha256(TEXTS[f'{part}/{name}'].encode()).hexdigest()}  {part}/{name}.txt" for name in names]
        (root / "corpus" / f"{part}.sha256").write_text("\n".join(sums) + "\n")
        lines = [line(*said) for said in SAID if said[0] in names]
        (root / "annotations" / f"{part}.ndjson").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (root / "package.toml").write_text(MANIFEST)
    (root / "guidelines.md").write_text("# Guidelines\n")
    (root / "queries" / "queries.yaml").write_text(QUERIES)
    (root / "gold" / "v1.ndjson").write_text("".join(json.dumps(answer) + "\n" for answer in GOLD))
    shutil.copy(NFL / "ontology.ttl", root / "ontology.ttl")
    shutil.copytree(NFL / "rules", root / "rules")
    return root


def said(*texts):
    """Statements from lines such as `g1 type NFLGame`."""
    return [parse_statement(text.split(), PREFIXES) for text in texts]


def goals(*texts):
    """Goals of a query from lines."""
    return tuple(parse_pattern(text, PREFIXES) for text in texts)


def nfl_ontology():
    """The ontology of the example."""
    findings = Findings()
    ontology = read_ontology(NFL / "ontology.ttl", PREFIXES, findings)
    assert findings.problems == []
    return ontology
