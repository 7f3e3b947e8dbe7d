"""The whole of a reading package, checked by one call: every problem with its file, its line and its cure (R-7)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from basanite.errors import InvalidInputError
from basanite.problems import Findings, Severity
from basanite.reading.effort import FILE as EFFORT
from basanite.reading.effort import read_effort
from basanite.reading.gold.answers import AnswerError, GoldAnswer, Known, gold_answer
from basanite.reading.ontology_checks import Fault, check_statements
from basanite.reading.package.annotations import Line, annotation_path, by_document, read_annotations
from basanite.reading.package.documents import Document
from basanite.reading.package.manifest import Part
from basanite.reading.package.model import ONTOLOGY, Package, query_files, read_package
from basanite.reading.package.ndjson import LineFaults, near, records
from basanite.reading.rules import check_rules
from basanite.reading.rules.files import read_all_rules
from basanite.reading.rules.tree import RuleSet
from basanite.reading.terms import Statement

RULE: Final = "R-7"
RULE_FILES: Final = (".rules", ".yaml")


@dataclass
class Contents:
    """What a package holds, counted."""

    documents: Counter[str] = field(default_factory=Counter)
    statements: Counter[str] = field(default_factory=Counter)
    classes: int = 0
    properties: int = 0
    queries: int = 0
    rules: int = 0
    gold: Counter[str] = field(default_factory=Counter)
    phases: int = 0
    patterns: int | None = None
    """Those of its baseline reader, which who checks a package may count; None if it has none."""
    package: Package | None = None
    """The package itself, read once; None if it cannot be read."""

    def as_dict(self) -> dict[str, Any]:
        """The object that `reading check --json` prints."""
        counters = {"documents": self.documents, "statements": self.statements, "gold": self.gold}
        numbers = ("classes", "properties", "queries", "rules", "phases")
        return {name: dict(sorted(counter.items())) for name, counter in counters.items()} | {
            name: getattr(self, name) for name in (*numbers, "patterns") if getattr(self, name) is not None
        }


def check_package(root: Path, findings: Findings) -> Contents:
    """Check everything in a package; what it holds is counted, and what is wrong with it is found."""
    package = read_package(root, findings)
    _check_folder(root, findings)
    if package is None:
        return Contents()
    contents = Contents(
        classes=len(package.ontology.classes),
        properties=len(package.ontology.properties),
        queries=len(package.queries),
        phases=len(package.manifest.phases),
        package=package,
    )
    documents = _check_parts(package, contents, findings)
    contents.rules = check_rule_files(package, findings)
    contents.gold = check_gold(package, documents, findings)
    _check_tags(package, findings)
    if (root / EFFORT).is_file():
        read_effort(root / EFFORT, findings)
    return contents


def check_rule_files(package: Package, findings: Findings) -> int:
    """Read and check every file of rules; how many rules there are."""
    prefixes, own = package.manifest.prefixes, Findings(None)
    count = 0
    with LineFaults("rules/", "R-10", findings).unreadable():
        rules = read_all_rules(tuple(rule_files(package.root)), own, prefixes=prefixes)
        check_rules(rules, package.ontology, own)
        count = len(rules.rules)
    findings.extend(replace(problem, file=f"rules/{problem.file}") for problem in own)
    return count


def package_rules(package: Package) -> RuleSet:
    """The rules of a package; problems raise."""
    findings = Findings()
    rules = read_all_rules(tuple(rule_files(package.root)), findings, prefixes=package.manifest.prefixes)
    check_rules(rules, package.ontology, findings)
    if not findings.valid:
        raise InvalidInputError("reading", findings)
    return rules


def rule_files(root: Path) -> list[Path]:
    """The files of rules, by name."""
    folder = root / "rules"
    return sorted(path for path in folder.iterdir() if path.suffix in RULE_FILES) if folder.is_dir() else []


def check_gold(package: Package, documents: dict[str, Document], findings: Findings) -> Counter[str]:
    """Hold each version of the gold against queries and documents; how many answers each has."""
    counted: Counter[str] = Counter()
    known = Known.of(package, frozenset(documents))
    for path in sorted((package.root / "gold").glob("*.ndjson")):
        faults = LineFaults(f"gold/{path.name}", "R-17", findings)
        seen: dict[tuple[object, ...], int] = {}
        for number, record in records(path, faults):
            counted[path.stem] += 1
            _check_capabilities(package, number, record.get("capabilities", []), faults)
            try:
                _check_gold_answer(gold_answer(record, number, known), seen, faults)
            except AnswerError as error:
                found = error.found if isinstance(error.found, str) else repr(error.found)
                faults.add(number, str(error), error.fix, found=found)
    return counted


def _check_gold_answer(found: GoldAnswer, seen: dict[tuple[object, ...], int], faults: LineFaults) -> None:
    """Whether somebody supports an answer (R-17), and whether it stands there once."""
    answer = found.answer
    missing = [name for name, text in (("by", found.by), ("when", found.when), ("why", found.why)) if not text.strip()]
    if missing:
        fix = 'write who decided, when and why: "by": "…", "when": "2026-01-31", "why": "…"'
        faults.add(answer.line, f"the answer does not say {' and '.join(missing)}", fix)
    first = seen.setdefault((answer.query, answer.document, answer.bindings), answer.line)
    if first != answer.line:
        fix = "keep one of them; each counts as one more to find"
        faults.add(answer.line, f"the same answer as on line {first}", fix, severity="warn")


def _check_capabilities(package: Package, number: int, tags: Any, faults: LineFaults) -> None:
    known = package.manifest.capabilities
    for tag in tags if isinstance(tags, list) else [tags]:
        if tag not in known:
            faults.add(number, f"the capability {tag!r:.60} is not known", near(tag, sorted(known)), rule="R-24")


def _check_folder(root: Path, findings: Findings) -> None:
    """Whether everything is there that a package needs, and no link leads out of it."""
    needed = {
        ONTOLOGY: "write the ontology in Turtle",
        "guidelines.md": "write down what annotators and reading teams may expect",
    }
    for name, fix in needed.items():
        if not (root / name).is_file():
            _missing(name, fix, findings)
    if not query_files(root):
        _missing("queries/queries.yaml", "write at least one query", findings)
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            name = path.relative_to(root).as_posix()
            LineFaults(name, "X-8", findings).add(None, "it is a link", "put the file itself there")


def _missing(name: str, fix: str, findings: Findings, severity: Severity = "reject") -> None:
    LineFaults(name, RULE, findings).add(None, "it is missing", fix, severity=severity)


def _check_parts(package: Package, contents: Contents, findings: Findings) -> dict[str, Document]:
    """The documents of all parts that are here; the parts themselves are checked and counted."""
    everything: dict[str, Document] = {}
    for part in package.manifest.parts:
        if not package.has(part):
            if not part.sealed:
                _missing(f"corpus/{part.name}", "put the texts there, or write sealed = true", findings)
            continue
        documents = package.documents(part.name, findings)
        for name in sorted(everything.keys() & documents.keys()):
            fix = f"rename it; part {everything[name].part} has it, too"
            LineFaults(f"corpus/{part.name}/{name}.txt", RULE, findings).add(None, "the name is taken", fix)
        everything |= documents
        contents.documents[part.name] = len(documents)
        contents.statements[part.name] = _check_annotations(package, part, documents, findings)
    return everything


def _check_annotations(package: Package, part: Part, documents: dict[str, Document], findings: Findings) -> int:
    path = annotation_path(package.root, part.name)
    if not path.is_file():  # nobody has annotated this part yet
        return 0
    faults = LineFaults(f"annotations/{path.name}", "R-8", findings)
    count = 0
    with faults.unreadable():
        lines = read_annotations(path, package.manifest.prefixes, documents, faults)
        for name, group in by_document(path, lines):
            count += len(group)
            _Annotations(package, faults, name).check(group)
    return count


@dataclass
class _Annotations:
    """Annotated statements of one document: which appear twice, and whether they agree with the ontology."""

    package: Package
    faults: LineFaults
    document: str
    taken: dict[tuple[Statement, str], int] = field(default_factory=dict)
    lines: dict[Statement, int] = field(default_factory=dict)

    def check(self, group: list[Line]) -> None:
        """Go through all lines."""
        for line in group:
            self._once(line)
            self.lines.setdefault(line.assertion.statement, line.number)
        for fault in check_statements(self.package.ontology, self.lines):
            self._report(fault)

    def _once(self, line: Line) -> None:
        found = line.assertion
        key = (found.statement, found.annotator)
        if key in self.taken:
            fix = f"remove it, or give its pieces of text to line {self.taken[key]}"
            self.faults.add(line.number, "the statement appears twice", fix, found=str(found.statement))
        self.taken.setdefault(key, line.number)

    def _report(self, fault: Fault) -> None:
        line = self.lines[fault.statements[0]] if fault.statements else self._first(fault)
        severity: Severity = "reject" if fault.severity == "violation" else "warn"
        fix = "complete it, if the text says it" if fault.severity == "incomplete" else _cure(self.package, fault)
        self.faults.add(line, f"{self.document}: {fault.message}", fix, rule=RULE, severity=severity)

    def _first(self, fault: Fault) -> int | None:
        return next((line for statement, line in self.lines.items() if statement.subject == fault.subject), None)


def _cure(package: Package, fault: Fault) -> str:
    ontology, short = package.ontology, package.manifest.prefixes.short
    if fault.kind == "unknown":
        known = ontology.classes if fault.element not in ontology.properties and "class" in fault.message else None
        name = fault.statements[0].object if known is not None else fault.element
        return near(short(name), [short(iri) for iri in known or ontology.properties])
    return {
        "query-only": "remove it of the annotations",
        "range": "write a value of the type that the ontology says",
        "domain": "give the subject the right class, or use another property",
        "too-many": "keep the values that the text says; where a text disagrees with itself, keep what it settles on",
        "disjoint": "keep one of the two",
    }[fault.kind]


def _check_tags(package: Package, findings: Findings) -> None:
    """Capabilities that the ontology names must be known (R-24)."""
    elements = [*package.ontology.classes.values(), *package.ontology.properties.values()]
    for element in elements:
        for tag in sorted(element.capabilities - package.manifest.capabilities):
            fix = near(tag, sorted(package.manifest.capabilities))
            words = f"{package.manifest.prefixes.short(element.iri)} has the unknown capability {tag!r}"
            LineFaults(ONTOLOGY, "R-24", findings).add(None, words, fix, found=tag)
