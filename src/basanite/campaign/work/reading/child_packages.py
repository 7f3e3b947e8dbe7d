"""Packages in the child: checked as a whole when they come, told as plain data, and packed with tasks or grown gold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from basanite.campaign.work.reading.child import TASK, Desk, lay_gold, plain, unpack_package
from basanite.errors import InvalidInputError
from basanite.formats.archives.output import write_archive
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.generate import TaskSpec, make_task
from basanite.reading.gold.answers import GoldAnswer, Known, read_gold
from basanite.reading.gold.derivation import derived_gold
from basanite.reading.gold.scope import versions
from basanite.reading.ontology import Ontology
from basanite.reading.package.annotations import annotation_path
from basanite.reading.package.checks import check_package
from basanite.reading.package.documents import Document
from basanite.reading.package.model import Package, read_package
from basanite.reading.package.ndjson import LineFaults, records
from basanite.reading.patterns import Pattern, Variable
from basanite.reading.queries import Choice, all_queries, class_named
from basanite.reading.query import Query, noun
from basanite.reading.release import LARGEST, write_bundle
from basanite.reading.terms import TYPE, Iri

FORMATS: Final = {"ntriples": "nt", "turtle": "ttl", "rdfxml": "rdf", "jsonld": "jsonld"}


def make(desk: Desk) -> None:
    """Make a task and write it in each format, and what it is in `task.json`."""
    package = desk.package()
    task = make_task(package, spec_of(package, desk))
    for name, ending in FORMATS.items():
        with (desk.out / f"task.{ending}").open("xb") as file:
            task.write(file, name)
    told = {"id": task.id, "queries": [query.id for query in task.queries], "documents": len(task.documents)}
    desk.write("task.json", told)


def spec_of(package: Package, desk: Desk) -> TaskSpec:
    """What the caller asked for."""
    data = desk.data
    classes = frozenset(class_named(name, package.ontology) for name in data["classes"])
    choice = Choice(frozenset(data["types"]), classes, sample=data["sample"], seed=data["seed"])
    return TaskSpec(data["part"], choice, data["phase"], data["source"], data["unanswered"], data["texts"])


WHY: Final = {"by": "reasoner", "when": "1970-01-01", "why": "derived from annotated statements"}


def add_derived_gold(package: Package, parts: Sequence[str]) -> None:
    """Add to every version of the gold the answers of parts that it says nothing about; v1 is made if there is none."""
    known = versions(package.root) or {"v1": package.root / "gold" / "v1.ndjson"}
    for path in known.values():
        path.parent.mkdir(exist_ok=True)
        path.touch()
        faults = LineFaults(path.name, "R-17", Findings())
        spoken = {str(record.get("document")) for _, record in records(path, faults)}
        silent = [
            part
            for part in parts
            if annotation_path(package.root, part).is_file() and not spoken & _names(package, part)
        ]
        lines = [json.dumps(one, ensure_ascii=False) for part in silent for one in derived_gold(package, part, WHY)]
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))


def _names(package: Package, part: str) -> set[str]:
    return set(package.documents(part))


def prepare(desk: Desk) -> None:
    """Check a package; write `index.json`, the whole as `package.tgz`, and `open.tgz`, which holds nothing sealed."""
    root = desk.root()
    findings = Findings()
    package = check_package(root, findings).package
    if package is None or not findings.valid:
        raise InvalidInputError(TASK, findings)
    desk.write("problems.json", findings.as_dict(TASK))
    _write_open(desk, package)
    add_derived_gold(package, [part.name for part in package.manifest.parts if package.has(part)])
    pack(root, desk.out / "package.tgz")
    desk.write("index.json", _index(package))


def pack(root: Path, out: Path) -> None:
    """A package as an archive whose bytes depend on its files alone."""
    paths = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    write_archive(((path.relative_to(root).as_posix(), read_bounded(path, LARGEST)) for path in paths), out)


def _write_open(desk: Desk, package: Package) -> None:
    """The package as it would be released (R-28), with gold for its open parts even where it came with none."""
    bundle = desk.out / "bundle.tgz"
    with bundle.open("xb") as file:
        write_bundle(package, file)
    folder = package.root.parent / "open"
    folder.mkdir()
    root = unpack_package(bundle, folder)
    bundle.unlink()
    shown = read_package(root, Findings())
    if shown is not None:
        add_derived_gold(shown, [part.name for part in shown.manifest.parts if not part.sealed])
    pack(root, desk.out / "open.tgz")


def _index(package: Package) -> dict[str, Any]:
    manifest = package.manifest
    documents = {one.name: one for part in manifest.parts if package.has(part) for one in _texts(package, part.name)}
    return {
        "name": manifest.name,
        "version": manifest.version,
        "title": manifest.title,
        "namespace": manifest.prefixes.namespace,
        "prefixes": dict(manifest.prefixes.names),
        "parts": [
            {
                "name": part.name,
                "sealed": part.sealed,
                "documents": sum(one.part == part.name for one in documents.values()),
            }
            for part in manifest.parts
        ],
        "sealed": [part.name for part in manifest.parts if part.sealed],
        "phases": [phase.name for phase in manifest.phases],
        "documents": [{"name": one.name, "part": one.part, "text": one.text} for one in documents.values()],
        "queries": [
            *(_query(query, package) for query in package.queries),
            *(_query(query, package) | {"generated": True} for query in all_queries(package.ontology)),
        ],
        "gold": {name: list(_gold(path, package, documents)) for name, path in versions(package.root).items()},
    }


def _texts(package: Package, part: str) -> Iterator[Document]:
    yield from package.documents(part).values()


def _query(query: Query, package: Package) -> dict[str, Any]:
    parts = {f"{part.name}.yaml": part.name for part in package.manifest.parts}
    told = query.select or query.variables
    return {
        "id": query.id,
        "type": query.type,
        "question": query.question,
        "variables": list(told),
        "literals": sorted(set(told) & set(_literals(query, package.ontology))),
        "ranges": {name: range_ for name, range_ in query.ranges(package.ontology).items() if name in told},
        "labels": _labels(query, package.ontology),
        "part": parts.get(query.file, ""),
        "lines": query.lines(package.manifest.prefixes),
        "capabilities": sorted(query.capabilities),
        "generated": False,
    }


def _literals(query: Query, ontology: Ontology) -> Iterator[str]:
    """The variables that stand for values: objects of properties whose range is no class."""
    for pattern in query.patterns:
        if isinstance(pattern.object, Variable) and _is_value(pattern, ontology):
            yield pattern.object.name


def _labels(query: Query, ontology: Ontology) -> dict[str, str]:
    """What people call the things that variables stand for, as the ontology words it."""
    found: dict[str, str] = {}
    for pattern in query.patterns:
        property_ = ontology.properties.get(pattern.predicate) if isinstance(pattern.predicate, Iri) else None
        kind = pattern.object if pattern.predicate == TYPE else property_.domain if property_ else None
        if isinstance(pattern.subject, Variable) and isinstance(kind, Iri) and kind in ontology.classes:
            found.setdefault(pattern.subject.name, noun(ontology.classes[kind]))
        if isinstance(pattern.object, Variable) and property_ is not None:
            range_ = ontology.classes.get(property_.range) if property_.range else None
            found.setdefault(pattern.object.name, noun(range_ or property_))
    return found


def _is_value(pattern: Pattern, ontology: Ontology) -> bool:
    found = ontology.properties.get(pattern.predicate) if isinstance(pattern.predicate, Iri) else None
    return found is not None and found.range not in ontology.classes


def _gold(path: Path, package: Package, documents: dict[str, Document]) -> Iterator[dict[str, Any]]:
    known = Known.of(package, frozenset(documents))
    lines = read_bounded(path, LARGEST).split(b"\n")
    for one in read_gold(path, known, Findings()):
        yield {**_gold_record(one), "line": lines[one.answer.line - 1].decode()}


def _gold_record(one: GoldAnswer) -> dict[str, Any]:
    answer = one.answer
    return {
        "query": answer.query,
        "document": answer.document,
        "bindings": plain(answer.bindings),
        "kind": answer.kind,
        "verdict": one.verdict,
    }


def repack(desk: Desk) -> None:
    """Put the versions of the gold into the package, check it once more, and write `package.tgz`."""
    root = desk.root()
    lay_gold(desk, root)
    findings = Findings()
    check_package(root, findings)
    if not findings.valid:
        raise InvalidInputError(TASK, findings)
    pack(root, desk.out / "package.tgz")
