"""An independent scorer for small end-to-end cases: standard library, exact fractions, no shortcut taken.

It shares no code with the product. `python tests/golden/oracle_e2e.py CASE` prints the values of a case folder. The
submission is a folder or a `.tgz`; judgements are combined as `settings.json` says (majority, any, all or raw).
"""

from __future__ import annotations

import json
import sys
import tarfile
from fractions import Fraction
from pathlib import Path

PRINTED = {"1A": ("59.9", "20"), "1B": ("59.9", "20"), "1S": ("40", "40")}
"""By language: beta of end to end and of retrieval."""


def cells(text):
    return [line.split("\t") for line in text.splitlines()]


def submitted(case):
    """By query: the documents returned."""
    folder, archive = case / "submission", case / "submission.tgz"
    if folder.is_dir():
        texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*/*.tsv")}
    else:
        with tarfile.open(archive) as tar:
            names = [name for name in tar.getnames() if name.endswith(".tsv")]
            texts = {Path(name).stem: tar.extractfile(name).read().decode() for name in names}
    return {query: {row[0] for row in cells(text) if row[1] == "Y"} for query, text in texts.items()}


def truth(case):
    """By query: whether each document is relevant."""
    paths = sorted((case / "reference").glob("*.tsv"))
    return {path.stem: {row[0]: row[1] == "Y" for row in cells(path.read_text(encoding="utf-8"))} for path in paths}


def votes(case):
    """By query and document: the votes."""
    found = {}
    for _, query, document, verdict in cells((case / "judgements.tsv").read_text(encoding="utf-8"))[1:]:
        found.setdefault((query, document), []).append(verdict == "R")
    return found


def share(given, settings):
    """How much of a returned pair counts as relevant."""
    part = Fraction(given.count(True), len(given))
    if settings.get("judging") == "raw":
        return part
    rule = settings.get("rule", "majority")
    if rule == "any":
        return Fraction(part > 0)
    if rule == "all":
        return Fraction(part == 1)
    half = Fraction(1, 2)
    return Fraction(part > half or (part == half and settings.get("tie", "N") == "R"))


def matrix(key, returned, kept, documents):
    """X1 to X4 of one query, summed document by document."""
    x = [Fraction(0)] * 4
    for document in documents:
        relevant = key[document]
        stays = kept(document) if document in returned else Fraction(0)
        x[0 if relevant else 2] += stays
        x[1 if relevant else 3] += 1 - stays
    return x


def mean(values):
    return sum(values, Fraction(0)) / len(values) if values else None


def forms(matrices, beta, prefix):
    """The three forms, Pmiss and PFA of matrices by query."""
    miss = [x[1] / (x[0] + x[1]) if x[0] + x[1] else None for x in matrices]
    alarm = [x[2] / (x[2] + x[3]) if x[2] + x[3] else Fraction(0) for x in matrices]
    pmiss, pfa = mean([rate for rate in miss if rate is not None]), mean(alarm)
    value = [1 - (one or 0) - beta * other for one, other in zip(miss, alarm, strict=True)]
    return {
        f"{prefix}aqwv": None if pmiss is None else 1 - pmiss - beta * pfa,
        f"{prefix}aqwv_all": mean(value),
        f"{prefix}aqwv_relevant": mean([one for one, rate in zip(value, miss, strict=True) if rate is not None]),
        f"{prefix}pmiss": pmiss,
        f"{prefix}pfa": pfa,
    }


def values(case, settings, queries=None, documents=None):
    """All values over some queries and documents (all, if not named)."""
    keys, answers, judged = truth(case), submitted(case), votes(case)
    first = next(iter(next(iter(keys.values()))))
    printed = PRINTED.get(first.split("-")[1].split("_")[0], (None, None))
    beta, beta_clir = (Fraction(str(settings.get(name, value))) for name, value in zip(BETAS, printed, strict=True))
    after, before = [], []
    for query in queries or sorted(keys):
        key, wanted = keys[query], documents or list(keys[query])
        after.append(matrix(key, answers[query], lambda d, q=query: share(judged[q, d], settings), wanted))
        before.append(matrix(key, answers[query], lambda d: Fraction(1), wanted))
    return {**forms(after, beta, "e2e_"), **forms(before, beta_clir, "")}


BETAS = ("beta", "beta_clir")


def breakdowns(case, settings):
    """Values by each level of each factor of queries or documents."""
    found = {}
    for path in sorted(case.glob("metadata*.tsv")):
        (what, *factors), *rows = cells(path.read_text(encoding="utf-8"))
        for at, factor in enumerate(factors, start=1):
            for level in sorted({row[at] for row in rows}):
                names = [row[0] for row in rows if row[at] == level]
                part = {"queries": names} if what == "query" else {"documents": names}
                found.setdefault(factor, {})[level] = values(case, settings, **part)
    return found


def score(case):
    """Values and breakdowns of a case folder, as fractions; None where undefined."""
    path = case / "settings.json"
    settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {"values": values(case, settings), "breakdowns": breakdowns(case, settings)}


def plain(item):
    if isinstance(item, dict):
        return {name: plain(value) for name, value in item.items()}
    return None if item is None else float(item)


if __name__ == "__main__":
    print(json.dumps(plain(score(Path(sys.argv[1]))), indent=2))
