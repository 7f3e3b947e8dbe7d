"""A reading package in the stores of an office: taken in once, never changed, and put on disk where it is needed.

Texts of open parts lie among the files; texts of sealed parts, gold and annotations lie among the sealed ones. What the
reasoner and the page need (manifest, ontology, rules, queries, guidelines, lists) is kept in a folder under the digest
of the package, so that a restarted server or a second one finds it, or makes it again.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Office
from basanite.campaign.store.files import Files
from basanite.campaign.store.tables import AnnotationDocument, AnnotationProject
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem
from basanite.reading.package.checks import check_package
from basanite.reading.package.documents import Document
from basanite.reading.package.model import Package, read_package
from basanite.reading.reasoner.inference import Reasoner
from basanite.work.annotation.config import Config, read_config
from basanite.work.annotation.review import reasoner_of

RULE: Final = "R-14"
LARGEST_MEMBER: Final = 64 * 2**20
MOST_MEMBERS: Final = 10_000
MOST_DOCUMENTS: Final = 100_000
SECRET: Final = frozenset({"gold", "annotations", "answers", "corpus"})
"""Folders of a package that hold truth, or hashes of sealed texts: sealed, and not where the page works."""
GUIDELINES: Final = "guidelines.md"
LISTS: Final = frozenset({".csv", ".tsv", ".txt"})
DISPENSABLE: Final = ("queries/", "rules/", "annotations/", GUIDELINES)
"""What a package for annotation can do without."""
LARGEST_LIST: Final = 4 * 2**20
MOST_LISTS: Final = 100


@dataclass(frozen=True)
class TakenIn:
    """A package whose files are kept: everything but texts by path, and the texts."""

    package: Package
    files: Mapping[str, Sequence[str]]
    documents: tuple[Document, ...]
    stores: Mapping[str, str]
    """Which store a part's texts lie in."""

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Path and digest of every text."""
        return [(f"corpus/{one.part}/{one.name}.txt", one.sha256) for one in self.documents]


@dataclass(frozen=True)
class Bench:
    """What annotating needs besides the text: the configuration and the package it belongs to."""

    config: Config
    package: Package

    @cached_property
    def reasoner(self) -> Reasoner:
        """The theory of the package, compiled once."""
        return reasoner_of(self.package)


def checked_package(root: Path) -> Package:
    """Refuse a package with problems, all of them; nothing is served that was not checked as a whole.

    Queries, rules, guidelines and annotations may be missing: to annotate, texts and labels are enough (R-40).
    """
    findings = Findings()
    package = check_package(root, findings).package
    problems = [one for one in findings.problems if not _may_be_missing(one)]
    if package is None or any(one.severity == "reject" for one in problems):
        raise RefusedError(problems or findings.problems, status=422)
    return package


def _may_be_missing(problem: Problem) -> bool:
    return problem.rule == "R-7" and problem.message == "it is missing" and problem.file.startswith(DISPENSABLE)


def checked_config(text: str, package: Package, lists: Mapping[str, bytes] | None = None) -> Config:
    """Refuse a configuration with problems, all of them; `lists` are files that would lie beside it."""
    with tempfile.TemporaryDirectory(prefix="basanite-") as scratch:
        for name, data in (lists or {}).items():
            (Path(scratch) / name).write_bytes(data)
        path = Path(scratch) / "annotation.yaml"
        path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        config, problems = read_config(path, package)
    if config is None or any(problem.severity == "reject" for problem in problems):
        raise RefusedError(problems, status=422)
    return config


def lists_beside(config: Path) -> dict[str, bytes]:
    """Small files that lie beside a configuration: it may name them as lists of choices."""
    found = [path for path in sorted(config.parent.iterdir()) if path.suffix in LISTS and path.name != config.name]
    plain = [path for path in found if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST_LIST]
    return {path.name: read_bounded(path, LARGEST_LIST) for path in plain[:MOST_LISTS]}


def with_lists(office: Office, files: Mapping[str, Sequence[str]], lists: Mapping[str, bytes]) -> dict[str, list[str]]:
    """The files of a package with lists added; a list that already exists must be the same."""
    added = {name: ["files", office.files.put(data).digest] for name, data in sorted(lists.items())}
    for name, place in added.items():
        if name in files and files[name][1] != place[1]:
            fix = "give the new list another name: existing annotations keep the old one"
            raise refused(RULE, f"the project already has another file {name[:60]}", fix, status=422)
    return {path: list(place) for path, place in files.items()} | added


def files_digest(files: Mapping[str, Sequence[str]], texts: Iterable[tuple[str, str]]) -> str:
    """sha256 over all paths and digests of a package."""
    listed = sorted([[path, place[1]] for path, place in files.items()] + [list(text) for text in texts])
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def take_in(office: Office, package: Package) -> TakenIn:
    """Keep every file of a package that was checked."""
    sealed = {part.name for part in package.manifest.parts if part.sealed}
    stores = {part.name: "sealed" if part.name in sealed else "files" for part in package.manifest.parts}
    files = {path: _keep(office, package.root, path) for path in _members(package.root)}
    documents = tuple(_documents(package))
    if len(documents) > MOST_DOCUMENTS:
        raise refused("X-8", f"more than {MOST_DOCUMENTS} texts", "create several projects", status=422)
    for document in documents:
        store(office, stores[document.part]).put(document.text.encode())
    return TakenIn(package, files, documents, stores)


def replaced_files(office: Office, package: Package) -> dict[str, list[str]]:
    """The files of a package that takes the place of another one, kept; texts are no part of them."""
    return {path: list(_keep(office, package.root, path)) for path in _members(package.root)}


def package_digest(package: Package) -> str:
    """sha256 over the files of a package but its texts."""
    found = ((path, read_bounded(package.root / path, LARGEST_MEMBER)) for path in _members(package.root))
    return files_digest({path: ("", hashlib.sha256(data).hexdigest()) for path, data in found}, ())


def store(office: Office, name: str) -> Files:
    """The store of a name; rows from elsewhere may say anything."""
    if name not in ("files", "sealed"):
        raise refused("X-15", f"there is no store {name[:20]!r}", "export the campaign again", status=422)
    return office.sealed if name == "sealed" else office.files


def content(office: Office, name: str, digest: str) -> bytes:
    """A stored file; sealed ones may have stayed at home when a campaign was imported."""
    try:
        return store(office, name).read(digest)
    except FileNotFoundError:
        fix = "export the campaign again with its references"
        raise refused("X-15", "this file did not come with the campaign", fix, status=409) from None


def bench(office: Office, project: AnnotationProject, text: str) -> Bench:
    """Configuration and package of a project, parsed once for each process."""
    return _bench(working_folder(office, project), text)


def working_folder(office: Office, project: AnnotationProject) -> Path:
    """The folder with what the reasoner and the page need, made if it is not there: whole or not at all."""
    folder = office.settings.data / "annotation" / project.digest
    if not folder.is_dir():
        fresh = folder.with_name(f".{secrets.token_hex(8)}.part")
        try:
            write_files(office, project.files, fresh, secret=False)
            fresh.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return folder


def write_files(office: Office, files: Mapping[str, Any], folder: Path, *, secret: bool) -> None:
    """Put the files of a package at a place of ours; those that hold truth only if asked for."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path, (name, digest) in files.items():
        if secret or not is_secret(path):
            target = folder / _safe(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content(office, name, digest))


def text_of(office: Office, row: AnnotationDocument) -> Document:
    """The text of a project, held against its digest."""
    data = content(office, row.store, row.digest)
    if hashlib.sha256(data).hexdigest() != row.digest:
        raise refused("R-8", "a text has changed", "restore the files from the backup", status=500)
    return Document(row.name, row.part, data.decode("utf-8"), row.digest)


def guidelines(office: Office, project: AnnotationProject) -> str:
    """What annotators are told, in Markdown."""
    path = working_folder(office, project) / GUIDELINES
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def is_secret(path: str) -> bool:
    """Whether a file of a package holds truth.

    >>> is_secret("gold/v1.ndjson"), is_secret("rules/scoring.rules")
    (True, False)
    """
    return PurePosixPath(path).parts[0] in SECRET


@lru_cache(maxsize=32)
def _bench(folder: Path, text: str) -> Bench:
    package = read_package(folder, Findings())
    if package is None:
        raise refused("R-7", "the package of this project cannot be read", "restore the data folder", status=500)
    return Bench(checked_config(text, package), package)


def _documents(package: Package) -> Iterator[Document]:
    for part in package.manifest.parts:
        if package.has(part):
            yield from package.documents(part.name).values()


def _members(root: Path) -> list[str]:
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    inside = [path.relative_to(root) for path in paths]
    kept = [path.as_posix() for path in inside if not _is_text(path) and not any(p.startswith(".") for p in path.parts)]
    if len(kept) > MOST_MEMBERS:
        raise refused("X-8", f"the package has more than {MOST_MEMBERS} files", "remove unneeded files", status=422)
    return kept


def _is_text(path: Path) -> bool:
    return len(path.parts) == 3 and path.parts[0] == "corpus" and path.suffix == ".txt"


def _keep(office: Office, root: Path, path: str) -> tuple[str, str]:
    name = "sealed" if is_secret(path) else "files"
    return name, store(office, name).put(read_bounded(root / path, LARGEST_MEMBER)).digest


def _safe(path: str) -> PurePosixPath:
    """A path that stays in its folder; rows from elsewhere may say anything."""
    found = PurePosixPath(path)
    if found.is_absolute() or ".." in found.parts or not found.parts or "\0" in path or "\\" in path:
        raise refused("X-15", "a file of the package has an invalid name", "export the campaign again", status=422)
    return found
