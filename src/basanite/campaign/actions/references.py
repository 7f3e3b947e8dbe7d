"""Versions of the truth: sealed files, a commitment to them, and which version a submission is scored against (P-12).

The files of a new version are sealed first, then checked in the limited child as submissions are (M36). They lie in
`office.sealed`, apart from everything that teams can reach. What is shown outside the evaluation team is
an HMAC under a random nonce in the vault, never a plain digest, which would confirm guesses (X-1).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.actions.registry import Arguments, At, Outcome, action, list_outcome, rows_of
from basanite.campaign.jobs.scoring_process import Given, Order, run_order
from basanite.campaign.model import refusals, windows
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.refusals import RefusedError, missing, no_reason, problem, refused
from basanite.campaign.model.windows import openness_table
from basanite.campaign.office import Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.references import active, versions_of
from basanite.campaign.store.tables import Reference
from basanite.errors import BasaniteError
from basanite.formats.archives.output import write_archive
from basanite.formats.bounded import check_regular, read_bounded
from basanite.problems import Problem
from basanite.programs.items import read_items
from basanite.receipts.reproduction import commit, opens, reference_content

__all__ = [
    "Material",
    "Place",
    "active",
    "active_material",
    "active_places",
    "add",
    "agrees",
    "check_version",
    "commitment",
    "list_references",
    "lock_active",
    "log",
    "nonce",
    "open_task",
    "versions",
    "window_places",
]

NONCES = "reference"
"""The kind of secret under which nonces lie in the vault, one for each reference."""


PROGRAM_ROLES: Final = ("inputs", "samples", "shared", "scorer")
"""What programs get, and an organizer's own scorer; the scoring child gets none of these (G-1, G-6)."""
BESIDE: Final = ("queries", "metadata", "judgements", "human", "documents", *PROGRAM_ROLES)
"""What a reference can have beside the truth itself."""


@dataclass(frozen=True)
class Place:
    """What a reference is for: every submission of this place is scored against its active version."""

    task: str
    dataset: str
    """Packs joined by +, as submissions have it."""
    language: str = ""
    queryset: str = ""


@dataclass(frozen=True)
class Material:
    """The files of a reference by role: digests of what lies among the sealed files."""

    reference: tuple[str, ...]
    queries: str | None = None
    metadata: tuple[str, ...] = ()
    judgements: str | None = None
    human: str | None = None
    documents: str | None = None
    judged: str | None = None
    """How a panel made it: the digest of all judgements, the rule and the scheme (S-18, M88)."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What each file was called, by digest: formats are told by their ending."""
    inputs: str | None = None
    """The sealed items that programs are run on."""
    samples: str | None = None
    """Public items like these, for the smoke test."""
    shared: str | None = None
    """What every call of a program gets beside its items."""
    scorer: str | None = None
    """An organizer's scoring program, an archive with `run`."""

    def as_dict(self) -> dict[str, Any]:
        """As it is stored with the reference: role to digest, and the names."""
        return {
            "reference": list(self.reference),
            "queries": self.queries,
            "metadata": list(self.metadata),
            "judgements": self.judgements,
            "human": self.human,
            "documents": self.documents,
            **({"judged": self.judged} if self.judged else {}),
            **{role: digest for role in PROGRAM_ROLES if (digest := getattr(self, role))},
            "names": dict(self.names),
        }

    @classmethod
    def of(cls, files: Mapping[str, Any]) -> Self:
        """The material of a reference that is there, to make the next version from."""
        single: dict[str, Any] = {
            role: files.get(role) for role in ("queries", "judgements", "human", "documents", "judged", *PROGRAM_ROLES)
        }
        lists: dict[str, Any] = {role: tuple(files.get(role) or ()) for role in ("reference", "metadata")}
        return cls(**lists, **single, names=dict(files.get("names", {})))

    def after(self, held: Self | None) -> Self:
        """This truth with what the version that holds has beside its own, people's answers say, where this has none."""
        if held is None:
            return self
        kept: dict[str, Any] = {role: getattr(self, role) or getattr(held, role) for role in BESIDE}
        return replace(self, **kept, names={**held.names, **self.names})


def window_places(campaign: Campaign, window: Window) -> Iterator[Place]:
    """Every place that a window takes submissions for: one for each task and language."""
    for task in window.tasks:
        queries = "" if task in windows.TASKS_WITHOUT_QUERIES else windows.queryset_name(campaign, window)
        for language in windows.languages(campaign, window) or ("",):
            yield Place(task, "+".join(window.dataset), language, queries)


def active_material(session: Session, campaign_id: str, place: Place) -> Material | None:
    """The files of the version that holds at a place; None as long as the task has not been opened."""
    row = active(session, campaign_id, place.task, place.language, place.queryset, place.dataset)
    return None if row is None else Material.of(row.files)


def active_places(session: Session, campaign_id: str) -> frozenset[Place]:
    """The places of a campaign that have a reference to score against."""
    columns = (Reference.task, Reference.dataset, Reference.language, Reference.queryset)
    question = select(*columns).where(Reference.campaign_id == campaign_id, Reference.state == "active")
    return frozenset(Place(*row) for row in session.execute(question.distinct()))


def lock_active(session: Session, reference: Reference) -> Reference | None:
    """The version that holds where this one belongs; no result of it is adopted before this transaction ends."""
    place = (reference.task, reference.language, reference.queryset, reference.dataset)
    question = versions_of(reference.campaign_id, *place).where(Reference.state == "active").limit(1)
    return session.scalars(question.with_for_update().execution_options(populate_existing=True)).first()


def versions(session: Session, campaign_id: str) -> tuple[Reference, ...]:
    """All references of a campaign, place by place, oldest version first."""
    order = (Reference.task, Reference.language, Reference.dataset, Reference.queryset, Reference.version)
    return tuple(session.scalars(select(Reference).where(Reference.campaign_id == campaign_id).order_by(*order)))


def check_version(session: Session, campaign_id: str, reference_id: str) -> None:
    """Refuse a version that is not of this campaign."""
    row = session.get(Reference, reference_id)
    if row is None or row.campaign_id != campaign_id:
        raise missing("reference")


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version that is to be added to a place; `hold`: even the first of its place waits for a second person."""

    place: Place
    material: Material
    reason: str = ""
    sealed: bool = True
    hold: bool = False


def add(session: Session, office: Office, actor: Actor, campaign_id: str, new: NewVersion) -> Reference:
    """Add a version: the first of its place opens the task at once, unless it is held for a second person.

    A later one is only proposed: a previewed re-scoring decides whether it comes to hold (`rescoring`).
    """
    place = new.place
    earlier = versions_of(campaign_id, place.task, place.language, place.queryset, place.dataset)
    newest = session.scalar(earlier.with_only_columns(func.max(Reference.version)))
    if newest and not new.reason.strip():
        raise no_reason("P-7", "replacing a reference needs a reason")
    first = active_material(session, campaign_id, place) is None
    row = Reference(
        campaign_id=campaign_id,
        task=place.task,
        language=place.language,
        queryset=place.queryset,
        dataset=place.dataset,
        version=(newest or 0) + 1,
        files=new.material.as_dict(),
        commitment="",
        sealed=new.sealed,
        state="active" if first and not new.hold else "proposed",
        made=office.clock(),
        by=actor.id,
        reason=new.reason,
    )
    session.add(row)
    session.flush()
    row.commitment = commitment(office, row)
    log(session, office, actor, row, "added")
    return row


def open_task(session: Session, office: Office, actor: Actor, reference_id: str, *, seconded_by: str) -> Reference:
    """Let the first version of a place hold, now that a second person agrees (X-4)."""
    row = session.get(Reference, reference_id, with_for_update=True, populate_existing=True)
    if row is None:
        raise missing("reference")
    if row.state != "proposed" or active(session, row.campaign_id, row.task, row.language, row.queryset, row.dataset):
        raise refused("P-7", "another version is already active", "preview a re-scoring with this version", status=409)
    row.state, row.seconded_by = "active", seconded_by
    log(session, office, actor, row, "activated")
    return row


def commitment(office: Office, reference: Reference) -> str:
    """What may be told of a sealed reference before it is released: it confirms no guess (X-1)."""
    return commit(office.vault.secret(NONCES, reference.id), reference_content(reference.files))


def nonce(office: Office, reference: Reference) -> str:
    """The nonce of a released reference, with which anybody can check the commitment (X-1)."""
    if reference.sealed and reference.released is None:
        raise refused("X-1", "this reference has not been released", "release it first", status=403)
    return office.vault.secret(NONCES, reference.id).hex()


def agrees(given: str, nonce_hex: str, files: Mapping[str, Any]) -> bool:
    """Whether a commitment was made to these files: what anybody can check once the nonce is out.

    >>> agrees("00", "aa", {"reference": []})
    False
    """
    return opens(given, bytes.fromhex(nonce_hex), reference_content(files))


def log(session: Session, office: Office, actor: Actor, reference: Reference, what: str) -> None:
    """Write down what happened to a reference: its place, version and commitment, never a digest."""
    events.record(
        session,
        f"reference.{what}",
        at=office.clock(),
        actor=actor.id,
        subject=reference.id,
        campaign_id=reference.campaign_id,
        data={
            "task": reference.task,
            "language": reference.language,
            "queryset": reference.queryset,
            "dataset": reference.dataset,
            "version": reference.version,
            "commitment": reference.commitment,
            "reason": reference.reason,
        },
    )


@action("reference list", reads=True, hint="--data season")
def list_references(at: At, given: Arguments) -> Outcome:
    """List all versions of references: location, version, state and commitment, never a digest."""
    found = versions(at.session, at.campaign_id)
    columns = ("task", "language", "queryset", "dataset", "version", "state", "made", "reason", "commitment")
    plain = rows_of(found, columns)
    rows = [{"reference": one.id} | row for one, row in zip(found, plain, strict=True)]
    return list_outcome("references", rows, columns, "There is no reference yet.")


LARGEST_MEMBER: Final = 64 * 2**20
LARGEST_LIST: Final = 64 * 2**20
NOTHING: Final = "nothing"


@dataclass(frozen=True)
class Paths:
    """Where the files of a reference lie before they are taken in."""

    reference: tuple[Path, ...]
    queries: Path | None = None
    metadata: tuple[Path, ...] = ()
    judgements: Path | None = None
    human: Path | None = None
    documents: Path | None = None
    inputs: Path | None = None
    samples: Path | None = None
    shared: Path | None = None
    scorer: Path | None = None
    open_queries: Path | None = None
    """A list of queries that were open to study, one per line: they never count toward a final value (M20)."""


def take_in(office: Office, paths: Paths) -> Material:
    """Keep all files of a reference among the sealed ones."""
    names: dict[str, str] = {}

    def one(path: Path | None) -> str | None:
        return None if path is None else _take_path(office, path, names)

    many = {
        role: tuple(_take_path(office, path, names) for path in getattr(paths, role))
        for role in ("reference", "metadata")
    }
    roles = ("queries", "judgements", "human", "documents", *PROGRAM_ROLES)
    single = {role: one(getattr(paths, role)) for role in roles}
    material = Material(reference=many["reference"], metadata=many["metadata"], **single, names=names)
    return material if paths.open_queries is None else _with_openness(office, material, paths)


def check_files(office: Office, campaign: Campaign, place: Place, material: Material, *, sealed: bool = True) -> None:
    """Refuse a reference that cannot be used, with all its problems; a bad key never opens a task (M36)."""
    window = window_of(campaign, place)
    _check_for_programs(office, window, material)
    if window.scorer is not None:
        return
    with _empty_submission(office, material) as nothing:
        order = _order(office, window, place, material, nothing, sealed=sealed)
        with run_order(office, order) as outcome:
            written = outcome.path("problems.json")
            if not outcome.good or written is None:
                message = f"the reference cannot be used: {outcome.fault}"
                hint = "basanite validate TASK --reference KEY --submission RUN"
                raise refused("M36", message, "validate it offline first", status=422).with_hint(hint)
            found = refusals.listed_problems(written.read_bytes())
    bad = [one for one in found["problems"] if one["where"] != "submission" and one["severity"] == "reject"]
    if bad:
        raise RefusedError([_problem(one) for one in bad], status=422)


def _check_for_programs(office: Office, window: Window, material: Material) -> None:
    """Refuse a reference without what its window's programs or scorer need, or with items that cannot be used."""
    if window.programs is not None and material.inputs is None:
        fix = "add the items that programs are run on"
        raise refused("G-1", f"the window {window.id!r} takes programs", fix, status=422).with_hint("--inputs")
    if window.scorer is not None and material.scorer is None:
        fix = "add an archive with `run` in it"
        message = f"the window {window.id!r} has a scorer of its own"
        raise refused("G-6", message, fix, status=422).with_hint("--scorer")
    with tempfile.TemporaryDirectory(dir=office.sealed.scratch) as folder:
        for role in ("inputs", "samples"):
            digest = getattr(material, role)
            if digest is not None:
                office.sealed.lend(digest, Path(folder) / role)
                _check_items(Path(folder) / role, material.names[digest])


def _check_items(path: Path, name: str) -> None:
    try:
        read_items(path, name)
    except BasaniteError as error:
        raise refused("G-1", f"{name} cannot be used: {error}", "write one item per line", status=422) from error


def window_of(campaign: Campaign, place: Place) -> Window:
    """The row of the calendar that a reference is for; refused if there is none, for nothing would ever use it."""
    for window in campaign.windows:
        with_queries = place.task not in windows.TASKS_WITHOUT_QUERIES
        queryset = windows.queryset_name(campaign, window) if with_queries else ""
        languages = windows.languages(campaign, window) or ("",)
        fits = place.task in window.tasks and place.dataset == "+".join(window.dataset)
        if fits and place.queryset == queryset and place.language in languages:
            return window
    what = f"{place.task} on {place.dataset} with {place.queryset or 'no queries'} ({place.language or 'no language'})"
    fix, hint = "check the windows of the campaign", "basanite admin window list"
    raise refused("M62", f"no window accepts {what}", fix, status=422).with_hint(hint)


def _take_path(office: Office, path: Path, names: dict[str, str]) -> str:
    if path.is_dir():
        with tempfile.TemporaryDirectory(dir=office.sealed.scratch) as folder:
            packed = Path(folder) / f"{path.name or 'reference'}.tgz"
            write_archive(_members(path), packed, source=path)
            return _take(office, packed, names)
    check_regular(path)
    return _take(office, path, names)


def _take(office: Office, path: Path, names: dict[str, str]) -> str:
    digest = office.sealed.take(path).digest
    names[digest] = path.name
    return digest


def _members(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
            yield path.relative_to(folder).as_posix(), read_bounded(path, LARGEST_MEMBER)


def _with_openness(office: Office, material: Material, paths: Paths) -> Material:
    """Add a table that tells open queries from closed ones, so that the final value leaves the open ones out (M20)."""
    every, opened = _all_queries(paths), set(_first_fields(paths.open_queries))
    if stray := sorted(opened - set(every)):
        raise refused(
            "M20",
            f"{stray[0]} is listed as open but is not a query",
            "list only queries of the data pack",
            status=422,
            found=stray[0],
        )
    digest = office.sealed.put(openness_table(every, opened).encode()).digest
    names = {**material.names, digest: "openness.tsv"}
    return replace(material, metadata=(*material.metadata, digest), names=names)


def _all_queries(paths: Paths) -> list[str]:
    """Every query: from the query pack, or from a key that is a folder with one file for each."""
    if paths.queries is not None:
        return _first_fields(paths.queries)
    folder = paths.reference[0]
    if not folder.is_dir():
        fix = "give the reference as a folder, or add the query pack"
        raise refused("M20", "the list of queries is missing", fix, status=422).with_hint("--queries")
    return sorted(path.stem for path in folder.glob("*.tsv"))


def _first_fields(path: Path | None) -> list[str]:
    """The first field of every line, without the head of a table."""
    if path is None:
        return []
    lines = read_bounded(path, LARGEST_LIST).decode("utf-8", "replace").splitlines()
    found = [line.split("\t")[0].strip() for line in lines if line.strip()]
    return [name for name in dict.fromkeys(found) if name not in ("query_id", "query")]


@contextmanager
def _empty_submission(office: Office, material: Material) -> Iterator[Path]:
    """A submission without answers, in the form of the reference: the child reads the reference before it."""
    first = material.names.get(material.reference[0], "") if material.reference else ""
    with tempfile.TemporaryDirectory(dir=office.sealed.scratch) as folder:
        path = Path(folder) / (NOTHING + "".join(Path(first).suffixes[-1:]))
        if path.suffix in (".tgz", ".gz"):
            write_archive([], path)
        else:
            path.write_bytes(b"")
        yield path


def _order(office: Office, window: Window, place: Place, material: Material, nothing: Path, *, sealed: bool) -> Order:
    def sealed_input(digest: str | None) -> Given | None:
        return None if digest is None else Given(material.names[digest], office.sealed.path(digest), office.sealed)

    settings = window.settings_of(place.task)
    settings.pop("draws", None)
    many = {role: tuple(map(sealed_input, getattr(material, role))) for role in ("reference", "metadata")}
    single = {role: sealed_input(getattr(material, role)) for role in ("queries", "judgements", "human", "documents")}
    shared: dict[str, Any] = {**many, **single, "settings": settings, "sealed": sealed}
    return Order("validate", place.task.lower(), submission=Given(nothing.name, nothing), **shared)


def _problem(found: Mapping[str, Any]) -> Problem:
    """A problem of the child's, as ours; what it quotes is the organiser's own file."""
    made = problem(found["rule"], found["message"], found["fix"], found=found["found"], file=found["file"])
    return replace(made, line=found["line"], field=found["field"], column=found["column"], where=found["where"])
