"""Kinds of parses, tags, mentions and annotations."""

from __future__ import annotations

import re
from typing import Final

from basanite.formats.kinds.general import begins_with_json, json_length
from basanite.formats.kinds.kind import Beginning, Kind, every_row, matches


def _is_conllu(start: Beginning) -> bool:
    rows = [line.split("\t") for line in start.lines if not line.startswith("#")]
    return bool(rows) and all(len(row) == 10 and re.fullmatch(r"\d+([-.]\d+)?", row[0]) for row in rows)


_LEAF = re.compile(r"\(\s*[^\s()]+\s+[^\s()]+\s*\)")
_BRACKETS = re.compile(r"(?:\s|\(\s*+[^\s()]*+(?=\s*+(?:[()]|\Z))|\)|\*x\*.*)*+")


def _is_trees(start: Beginning) -> bool:
    """Nothing but brackets with labels around brackets with a tag and a word, two deep at least."""
    found, leaves = _LEAF.subn("()", "\n".join(start.lines))
    return leaves > 0 and found.count("(") > leaves and bool(_BRACKETS.fullmatch(found))


def _count_trees(text: str) -> int | None:
    """How many brackets stand outside all others; None where they do not close."""
    depth = trees = 0
    for sign in re.findall(r"[()]", text):
        trees += sign == "(" and depth == 0
        depth += 1 if sign == "(" else -1
        if depth < 0:
            return None
    return trees if depth == 0 else None


_PARAMETER = re.compile(
    r"(?:DEBUG|MAX_ERROR|CUTOFF_LEN|LABELED|DISC_ONLY|DELETE_LABEL(?:_FOR_LENGTH)?|EQ_LABEL|EQ_WORD|QUOTE_LABEL)\s+\S.*"
)


def _is_evalb(start: Beginning) -> bool:
    """Nothing but comments and parameters of evalb, one of which is no comment."""
    found = [line.strip() for line in start.lines if not line.startswith("#")]
    return bool(found) and all(map(_PARAMETER.fullmatch, found))


EVALB: Final = Kind(
    "parameters of evalb",
    _is_evalb,
    (".prm",),
    "the task parsing follows them as its setting `parameters`",
    commands=("score parsing GOLD PARSED --set parameters={path}",),
    sign="each line begins with `DELETE_LABEL`, `EQ_LABEL`, `CUTOFF_LEN` or another parameter of evalb",
    record="parameter",
    comment="#",
)
TREES: Final = Kind(
    "bracketed trees",
    _is_trees,
    (".mrg", ".trees", ".ptb"),
    "the task parsing reads them",
    commands=("score parsing {path} ANSWERS", "score parsing REFERENCE {path}"),
    sign="brackets with labels around brackets with a tag and a word, as `(S (NP (NN rain)) (VP (VBZ helps)))`",
    record="tree",
    count=_count_trees,
)
CONLLU: Final = Kind(
    "CoNLL-U",
    _is_conllu,
    (".conllu",),
    "the task dependencies reads it",
    commands=("score dependencies {path} PARSED.conllu", "score dependencies GOLD.conllu {path}"),
    sign="ten tab-separated fields per line, the first is a number; comments begin with `#`",
    record="token",
    fields=("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"),
    comment="#",
)
_MARK = re.compile(r"O|[BIESLU]-\S+")
_SENSE = re.compile(r"\S+%[1-5]:\d{2}:\d{2}:\S*:\d*|(?:bn|wn):\d{8}[nvars]")


def _is_tags(start: Beginning) -> bool:
    """Words with a tag of an entity as their last field, the same number of fields on every line."""
    rows = [row for row in start.rows if not row[0].startswith(("#", "-DOCSTART-"))]
    widths = {len(row) for row in rows}
    marked = all(_MARK.fullmatch(row[-1]) for row in rows)
    return len(widths) == 1 and min(widths) > 1 and marked and any(len(row[-1]) > 1 for row in rows)


TAGS: Final = Kind(
    "tags in columns (IOB, IOBES, BILOU)",
    _is_tags,
    (".iob", ".bio"),
    "the task tagging reads them",
    commands=("score tagging {path} TAGGED", "score tagging GOLD {path}"),
    sign="words in lines of as many fields, the last of which is `O` or begins with `B-`, `I-`, `E-`, `S-`, `L-`, `U-`",
    record="token",
)
SENSES: Final = Kind(
    "a key of word senses",
    every_row(lambda row: len(row) > 1 and all(map(_SENSE.fullmatch, row[1:]))),
    (".key",),
    "the task tagging reads it",
    commands=("score tagging {path} ANSWERS.key", "score tagging GOLD.key {path}"),
    sign="an id on each line, then one or more senses such as `art%1:09:00::` or `bn:00000001n`",
    record="word",
)
COREFERENCE: Final = Kind(
    "coreference in the columns of CoNLL-2012",
    lambda start: start.text.lstrip().startswith("#begin document"),
    (),
    "the task coreference reads it",
    commands=("score coreference {path} RESOLVED", "score coreference GOLD {path}"),
    sign="the first line begins with `#begin document`",
    record="word",
    comment="#",
)
LABEL_STUDIO: Final = Kind(
    "an export of Label Studio",
    lambda start: begins_with_json(start, "[{", "annotations", "data") and '"image_id"' not in start.text,
    (".json",),
    "import it as annotations",
    commands=("annotation import {path} --from label-studio --config CONFIG --package PACKAGE --out RECORDS.ndjson",),
    sign="JSON with the names `data` and `annotations`",
    record="task",
    count=lambda text: 1 if text.lstrip().startswith("{") else json_length()(text),
)
_RDF_XML: Final = re.compile(r"<rdf:RDF[\s>]")
_RULES: Final = re.compile(r"(?:\s*[#;][^\n]*\n)*\s*\((?:rule|prefix)\s")
_TURTLE: Final = re.compile(r"^\s*(?:@prefix|@base|PREFIX|BASE)\s+(?:\S*:\s*)?<[^<>\s]*>", re.MULTILINE)
RDF: Final = Kind(
    "RDF statements",
    lambda start: bool(_RDF_XML.search(start.text) or _TURTLE.search(start.text)),
    (".ttl", ".rdf", ".owl", ".trig"),
    "reason over them, or write the answers as JSON lines",
    commands=(
        "reading infer --ontology {path}",
        "reading infer RULES --statements {path}",
    ),
    sign="a tag `<rdf:RDF>`, or a line `@prefix`, `@base`, `PREFIX` or `BASE` with an address",
    record="line",
    comment="#",
)
RULES: Final = Kind(
    "rules for reasoning",
    lambda start: bool(_RULES.match(start.text)) and "(rule" in start.text and ":then" in start.text,
    (".rules",),
    "reason with them, over statements in RDF",
    commands=("reading infer {path} --statements STATEMENTS",),
    sign="the text begins with `(rule` or `(prefix`, and has `:then`",
    record="rule",
    count=matches(r"^\(rule\s"),
)
READING: Final = Kind(
    "a reading package",
    lambda start: "package.toml" in start.members,
    (),
    "the task reading reads it as a reference",
    commands=("reading check {path}", "score reading {path} ANSWERS"),
    sign="a folder with `package.toml`",
    record="file",
)
METRICS_EVAL: Final = Kind(
    "a folder of mt-metrics-eval",
    lambda start: {"references", "sources"} <= {name.partition("/")[0] for name in start.members},
    (),
    "the task translation reads it as a reference",
    commands=("score translation {path} HYP.txt",),
    sign="a folder with folders `references` and `sources`",
    record="file",
)
ARRAYS: Final = Kind(
    "NumPy arrays",
    lambda start: bool(start.members) and all(name.endswith(".npy") for name in start.members),
    (".npz",),
    "they are measured by a command of their own",
    commands=("measure run {path}", "score representation LABELS {path}", "score classification {path}"),
    sign="an archive of files called `.npy`",
    record="array",
)
SUMMARIES: Final = Kind(
    "a submission of summaries (e2e)",
    lambda start: (
        any(name.endswith(".png") for name in start.members) and any(name.endswith(".tsv") for name in start.members)
    ),
    (".tgz",),
    "the task e2e reads it",
    commands=("score e2e KEY {path} --judgements JUDGEMENTS.tsv",),
    sign="folders of queries with `.tsv`, `.json` and `.png` files",
    record="file",
)


def _holds_decisions(start: Beginning, fields: int) -> bool:
    """Whether a folder holds tables of decisions alone, and the first of them has this many fields per line."""
    tables = bool(start.members) and all(name.endswith(".tsv") and "/" not in name for name in start.members)
    return tables and all(len(row) == fields and row[1] in "YN" for row in start.cells("\t"))


DECISIONS: Final = Kind(
    "a submission of decisions (clir, domainid, langid)",
    lambda start: bool(start.lines) and _holds_decisions(start, 3),
    (".tgz",),
    "the tasks clir, domainid and langid read it",
    commands=tuple(f"score {task} KEY {{path}}" for task in ("clir", "domainid", "langid")),
    sign="files `<ID>.tsv` with three fields per line: document, `Y` or `N`, confidence",
    record="file",
)
DECISION_KEY: Final = Kind(
    "a key of decisions (clir, domainid, langid)",
    lambda start: bool(start.lines) and _holds_decisions(start, 2),
    (),
    "the tasks clir, domainid, langid and e2e read it as a reference",
    commands=tuple(f"score {task} {{path}} SUBMISSION.tgz" for task in ("clir", "domainid", "langid")),
    sign="files `<ID>.tsv` with two fields per line: document, `Y` or `N`",
    record="file",
)
TREEBANK: Final = Kind(
    "a folder of bracketed trees",
    lambda start: bool(start.members) and bool(start.lines) and _is_trees(start),
    (),
    "the task parsing reads it",
    commands=("score parsing {path} ANSWERS", "score parsing REFERENCE {path}"),
    sign="a folder whose first file holds bracketed trees",
    record="file",
)
BRAT: Final = Kind(
    "a folder of brat",
    lambda start: any(name.endswith(".ann") for name in start.members),
    (),
    "import it as annotations",
    commands=("annotation import {path} --from brat --config CONFIG --package PACKAGE --out RECORDS.ndjson",),
    sign="a folder with files called `.ann`",
    record="file",
)
