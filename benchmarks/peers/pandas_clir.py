"""A plain scorer as a careful pandas user writes it: one table per query and archive, merged by document.

`python benchmarks/peers/pandas_clir.py KEY.tgz SYSTEM.tgz [BETA]` prints the three forms of AQWV as JSON.

It follows the pandas guide to reading text: column types are declared, repeated words are categories, no search for
missing values or quotes. Both archives are read as streams, side by side, so that memory stays small.
"""

from __future__ import annotations

import csv
import json
import sys
import tarfile

import pandas as pd

MARKS = pd.CategoricalDtype(["N", "Y"])
KEY = {"document": "str", "relevant": MARKS}
ANSWERS = {"document": "str", "decision": MARKS, "confidence": "float64"}


def tables(path, types):
    """The name and table of each file of an archive."""
    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            table = pd.read_csv(
                archive.extractfile(member),
                sep="\t",
                header=None,
                names=list(types),
                dtype=types,
                na_filter=False,
                quoting=csv.QUOTE_NONE,
            )
            yield member.name, table


def check(name, key, answers, pairs):
    """Stop at the first thing that makes a score meaningless."""
    # Cheaper than merge's own `validate`, which sorts all names of both tables.
    if not len(pairs) == len(key) == len(answers) or not pairs["document"].is_unique:
        raise SystemExit(f"{name}: the documents are not those of the key")
    if pairs[["relevant", "decision"]].isna().to_numpy().any():
        raise SystemExit(f"{name}: a decision is neither Y nor N")
    if not pairs["confidence"].between(0, 1).all():
        raise SystemExit(f"{name}: a confidence is outside 0..1")


def counts(name, key, answers):
    """Relevant documents, misses, other documents and false alarms of one query."""
    pairs = key.merge(answers, on="document")
    check(name, key, answers, pairs)
    relevant, returned = pairs["relevant"] == "Y", pairs["decision"] == "Y"
    return {
        "relevant": relevant.sum(),
        "misses": (relevant & ~returned).sum(),
        "others": (~relevant).sum(),
        "alarms": (~relevant & returned).sum(),
    }


def per_query(key_path, system_path):
    """The counts of every query as one table; both archives list the queries in the same order."""
    rows = {}
    for (name, key), (other, answers) in zip(tables(key_path, KEY), tables(system_path, ANSWERS), strict=True):
        if name != other:
            raise SystemExit(f"{other} stands where {name} should")
        rows[name] = counts(name, key, answers)
    return pd.DataFrame.from_dict(rows, orient="index")


def forms(table, beta):
    """The three forms of AQWV."""
    misses = (table["misses"] / table["relevant"]).where(table["relevant"] > 0)
    alarms = (table["alarms"] / table["others"]).where(table["others"] > 0, 0)
    values = 1 - misses.fillna(0) - beta * alarms
    return {
        "aqwv": 1 - misses.mean() - beta * alarms.mean(),
        "aqwv_all": values.mean(),
        "aqwv_relevant": values[table["relevant"] > 0].mean(),
    }


if __name__ == "__main__":
    price = float(sys.argv[3]) if len(sys.argv) > 3 else 20.0
    print(json.dumps(forms(per_query(sys.argv[1], sys.argv[2]), price)))
