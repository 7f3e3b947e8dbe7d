"""A package and a configuration from texts and labels alone: all that an annotation project needs (R-40).

The ontology says nothing, so that another can take its place later without touching a text or a record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from basanite.work.annotation.labels import LabelSet, config_text
from basanite.work.annotation.source_texts import SourceText

CONFIG: Final = "annotation.yaml"
RECORDS: Final = "records.ndjson"
"""What was annotated before, beside the package."""
PART: Final = "texts"
MANIFEST: Final = """format = "basanite-reading-package/1"
name = "{name}"
version = "1.0.0"
title = {title}
licence = "LicenseRef-not-said"
citation = "Not said."
namespace = "urn:basanite:{name}#"

[parts.{part}]
"""
ONTOLOGY: Final = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix ts: <urn:basanite:reading:> .

<urn:basanite:{name}> a owl:Ontology .

<urn:basanite:{name}#Thing> a owl:Class ; rdfs:label "thing" ; ts:mark ts:target .
"""
"""One class, which nothing is ever said to be: an ontology without any is a mistake everywhere else."""


def write_package(
    folder: Path, name: str, texts: Sequence[SourceText], labels: LabelSet | str, *, title: str = "", guide: str = ""
) -> Path:
    """Make the folder of a package; `labels` may be the text of a configuration that is there already."""
    title = title or name
    config = labels if isinstance(labels, str) else config_text(name, title, labels)
    corpus = folder / "corpus" / PART
    corpus.mkdir(parents=True)
    (folder / "package.toml").write_text(
        MANIFEST.format(name=name, title=_toml_text(title), part=PART), encoding="utf-8"
    )
    (folder / "ontology.ttl").write_text(ONTOLOGY.format(name=name), encoding="utf-8")
    (folder / "guidelines.md").write_text(guide or GUIDE, encoding="utf-8")
    (folder / CONFIG).write_text(config, encoding="utf-8")
    sums = []
    for one in sorted(texts, key=lambda one: one.name):
        data = one.text.encode()
        (corpus / f"{one.name}.txt").write_bytes(data)
        sums.append(f"{hashlib.sha256(data).hexdigest()}  {PART}/{one.name}.txt\n")
    (folder / "corpus" / f"{PART}.sha256").write_text("".join(sums), encoding="utf-8")
    return folder


GUIDE: Final = "# Guidelines\n\nNobody has written guidelines for this project.\n"


def _toml_text(text: str) -> str:
    """A string of TOML on one line."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
