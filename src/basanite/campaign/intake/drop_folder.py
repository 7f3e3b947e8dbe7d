"""The drop folder: one folder for each team; the folder says who, the file's name says what (X-12).

Archives of detection tasks lie in the team's folder and have a full name (M56). Files of all other tasks are called as
their authors like: the folders above them name window and task, `<team>/<window>/<task>/<label>.<any ending>` (D-3).

Nothing in it is trusted: folders and files are opened without following links, only regular files are taken, and each
is copied and hashed before anything reads it. A file is complete once it has lost its `.part`. Its time is when it was
first seen, which the database remembers. Answers lie in `answers/` beside it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select

from basanite.campaign.intake import acceptance, charges
from basanite.campaign.intake.open_uploads import part
from basanite.campaign.model import refusals
from basanite.campaign.model.plan import Campaign, Declared
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.model.windows import DOMAIN_TASK
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.files import PIECE, Stored, room_needed
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import CampaignRow, Dropped, Membership, Receipt, Submission, Team
from basanite.formats.archives.archive_names import TASKS, ArchiveName, parse_name

log = logging.getLogger("basanite.drop")

PART: Final = ".part"
ARCHIVE: Final = ".tgz"
ANSWERS: Final = "answers"
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
MOST_ENTRIES: Final = 10_000
"""Entries of one folder that are looked at; a team that puts more there waits for the rest."""


@dataclass(frozen=True)
class Place:
    """An open folder of one team: its own one, or that of a window, or that of a task in a window."""

    team: Team
    pi: str
    campaign: Campaign
    folder: int
    window: str = ""
    task: str = ""

    @property
    def above(self) -> str:
        """The way here from the team's folder, by which what lies here is remembered."""
        return "".join(f"{name}/" for name in (self.window, self.task) if name)

    @property
    def inner(self) -> tuple[str, ...]:
        """The folders that belong here: windows, or the tasks of a window that have no names of their own."""
        if self.task:
            return ()
        if not self.window:
            return tuple(window.id for window in self.campaign.windows)
        return tuple(task for task in self.campaign.window(self.window).tasks if task not in TASKS)

    @property
    def detects(self) -> bool:
        """Whether the campaign has tasks whose archives have names of their own (M55 to M58)."""
        return any(task in TASKS for window in self.campaign.windows for task in window.tasks)


def look(office: Office) -> int:
    """Look into all folders once: take what is complete, answer what is decided; gives how many were taken."""
    root = office.settings.drop
    if root is None or not root.is_dir():
        return 0
    return sum(_look_into(office, place) for place in _places(office, os.open(root, os.O_RDONLY | os.O_DIRECTORY)))


def _places(office: Office, root: int) -> Iterator[Place]:
    try:
        for name in sorted(os.listdir(root))[:MOST_ENTRIES]:
            found = _team(office, name)
            if found is None:
                continue
            with _open_entry(name, root, FOLDER) as folder:
                if folder is not None:
                    yield from _places_below(Place(*found, folder))
    finally:
        os.close(root)


def _places_below(place: Place) -> Iterator[Place]:
    """A folder, and those inside it that are named after a window or a task."""
    yield place
    for name in place.inner:
        with _open_entry(name, place.folder, FOLDER) as folder:
            if folder is not None:
                window, task = (place.window, name) if place.window else (name, "")
                yield from _places_below(replace(place, folder=folder, window=window, task=task))


@contextmanager
def _open_entry(name: str, folder: int, flags: int) -> Iterator[int | None]:
    """An entry, opened as what it is said to be; None for a link, or for what is something else."""
    try:
        opened = os.open(name, flags, dir_fd=folder)
    except OSError:
        yield None
        return
    try:
        yield opened
    finally:
        os.close(opened)


def _team(office: Office, folder: str) -> tuple[Team, str, Campaign] | None:
    """The team of a folder, its PI and its campaign; `campaign.team` where two campaigns have teams of one name."""
    with office.reading() as session:
        query = select(Team, CampaignRow.slug).join(CampaignRow, CampaignRow.id == Team.campaign_id)
        rows = session.execute(query.where(Team.state == "active")).all()
        exact = [team for team, slug in rows if folder in (team.id, f"{slug}.{team.name}")]
        named = exact or [team for team, _ in rows if team.name == folder]
        if len(named) != 1:
            return None
        leads = select(Membership.person_id).where(Membership.team_id == named[0].id, Membership.role == "pi")
        pi = session.scalars(leads.where(Membership.state == "active")).first()
        return (named[0], pi, in_force(session, named[0].campaign_id).campaign) if pi else None


def _look_into(office: Office, place: Place) -> int:
    """Take what is complete; whatever one file or answer brings about, the others have their turn (X-30)."""
    taken = 0
    for name in _complete(place):
        with _log_faults(place):
            taken += _meet(office, place, name)
    with _log_faults(place):
        _answer_decided(office, place)
    return taken


@contextmanager
def _log_faults(place: Place) -> Iterator[None]:
    try:
        yield
    except Exception:  # a fault with one team's file must not close the door for the others
        log.exception("the drop folder of team %s", place.team.id)


def _complete(place: Place) -> list[str]:
    """The names of what claims to be complete, in the order of the alphabet; folders that belong here do not."""
    names = os.listdir(place.folder)[:MOST_ENTRIES]  # noqa: PTH208 - an open folder has no path
    found = sorted(name for name in names if name[0] != "." and not name.endswith(PART) and name != ANSWERS)
    return [name for name in found if name not in place.inner or not _is_folder(place, name)]


def _is_folder(place: Place, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=place.folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _meet(office: Office, place: Place, name: str) -> bool:
    """Take one file, unless that was done before; what is refused is answered once."""
    row = _note_file(office, place, name)
    if row is None or row.state != "seen":
        return False
    try:
        submission = _take_file(office, place, name, row)
    except RefusedError as refusal:
        _settle(office, row.id, "refused", None)
        _answer(place, f"{name}.problems.json", _problems(refusal))
        return False
    if submission is None:
        return False
    _answer(place, f"{name}.receipt.json", _receipt(office, submission))
    return True


def _note_file(office: Office, place: Place, name: str) -> Dropped | None:
    """What we know of this file; if it is new, it is seen now."""
    try:
        found = os.stat(name, dir_fd=place.folder, follow_symlinks=False)
    except OSError:
        return None
    identity = f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"
    with office.writing() as session:
        charges.lock_team(session, place.team.id)  # two workers that look at once would both find it new
        known = place.above + os.fsencode(name).decode(errors="backslashreplace")  # no database keeps broken UTF-8
        query = select(Dropped).where(Dropped.team_id == place.team.id, Dropped.name == known)
        row = session.scalar(query.where(Dropped.identity == identity))
        if row is None:
            row = Dropped(team_id=place.team.id, name=known, identity=identity, seen=office.clock(), state="seen")
            session.add(row)
            session.flush()
    return row


def _take_file(office: Office, place: Place, name: str, row: Dropped) -> str | None:
    """Make a submission of a file, copied and hashed first; None if it changed meanwhile: then it is another one."""
    declared = _declaration(place, name)
    copy = part(office, f"drop-{secrets.token_hex(16)}")
    try:
        stored = _copy_file(office, place, name, copy)
        return None if stored is None else _accept(office, place, row, declared, copy, stored)
    finally:
        copy.unlink(missing_ok=True)


def _accept(office: Office, place: Place, row: Dropped, declared: Declared, copy: Path, stored: Stored) -> str | None:
    """The submission, if it is let in; only then is the copy kept."""
    dropper = Actor(place.pi, "drop")
    arrival = acceptance.Arrival(place.team.id, declared, stored, row.seen)
    acceptance.send_ahead(office, dropper, arrival, copy)
    with office.writing() as session:
        kept = session.get_one(Dropped, row.id, with_for_update=True, populate_existing=True)
        if kept.state != "seen":
            return None
        made = acceptance.accept(session, office, dropper, arrival)
        kept.state, kept.submission_id = "taken", made.id
        office.files.keep(copy, stored)
        return made.id


def _declaration(place: Place, name: str) -> Declared:
    """What the way to a file declares (D-3); a file at the wrong place is told the right one."""
    if place.task:
        return Declared(
            place.task,
            name.partition(".")[0],
            dataset=place.campaign.window(place.window).dataset,
            track=place.team.track,
            name=name,
            window=place.window,
        )
    if place.window:
        raise _wrong_folder(
            place, name, f"{place.window}/TASK/LABEL.ENDING, where TASK is", "the window takes no others"
        )
    found = parse_name(name)
    full = isinstance(found, ArchiveName) and not found.for_web
    if not full and (_is_folder(place, name) or not name.endswith(ARCHIVE) or not place.detects):
        raise _wrong_folder(place, name, "WINDOW/TASK/LABEL.ENDING, where WINDOW is", "the campaign has no windows")
    return declared_by(name, place.team.track)


def _wrong_folder(place: Place, name: str, where: str, none: str) -> RefusedError:
    fix = f"put the file at {where} {' or '.join(place.inner)}" if place.inner else none
    if place.detects:
        fix = f"{fix}; archives of {', '.join(TASKS)} belong in the team's folder, under their full names"
    return refused("X-12", "files here are not accepted", fix, status=422, found=place.above + name)


def declared_by(name: str, track: str = "") -> Declared:
    """What the name of a dropped file declares; only a full name says enough (M56).

    >>> declared_by("Team_CLIR-primary-unconstrained-QUERY1-alpha_BASE-1A-DEV_20180115_120000.tgz").task
    'CLIR'
    """
    found = parse_name(name)
    if not isinstance(found, ArchiveName):
        raise RefusedError(found, status=422)
    if found.for_web:
        message, fix = "this name does not say what is submitted", "use the full name of an archive"
        raise refused("M56", message, fix, status=422, found=name).with_hint("`basanite pack` makes it")
    domains = found.sets if found.task == DOMAIN_TASK else ()
    return Declared(
        task=found.task,
        label=found.label,
        type=found.type,
        language=found.language,
        queryset="" if domains else "".join(found.sets),
        dataset=(found.dataset,),
        domains=domains,
        track=track,
        condition=found.condition,
        name=name,
    )


def _copy_file(office: Office, place: Place, name: str, copy: Path) -> Stored | None:
    with _open_entry(name, place.folder, FILE) as file:
        if file is None or not stat.S_ISREG(os.fstat(file).st_mode) or os.fstat(file).st_nlink != 1:
            fix = "put a copy of the file itself there, not a link, folder or device"
            raise refused("X-12", "only regular files are accepted", fix, status=422, found=name)
        before = os.fstat(file)
        _check_size(office, place, before.st_size)
        stored = _write_copy(copy, _pieces(file, before.st_size))
        after = os.fstat(file)
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return stored if same and stored.size == before.st_size else None


def _write_copy(copy: Path, pieces: Iterator[bytes]) -> Stored:
    """Write a copy of our own, and say what is in it."""
    copy.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest, size = hashlib.sha256(), 0
    with room_needed(), copy.open("xb") as file:
        for piece in pieces:
            digest.update(piece)
            size += file.write(piece)
    return Stored(digest.hexdigest(), size)


def _pieces(file: int, size: int) -> Iterator[bytes]:
    """The content, and never more than the file was long: one that grows for ever must not fill our disk."""
    left = size + 1
    while left > 0 and (piece := os.read(file, min(PIECE, left))):
        left -= len(piece)
        yield piece


def _check_size(office: Office, place: Place, size: int) -> None:
    with office.reading() as session:
        most = in_force(session, place.team.campaign_id).campaign.largest_upload
    if size > most:
        raise refused("P-11", f"the file has {size} bytes", f"at most {most} are accepted", status=413)


def _settle(office: Office, dropped_id: str, state: str, submission_id: str | None) -> None:
    with office.writing() as session:
        row = session.get_one(Dropped, dropped_id)
        row.state, row.submission_id = state, submission_id or row.submission_id


def _answer_decided(office: Office, place: Place) -> None:
    """Say what became of submissions that were taken: problems of the invalid ones; scores never stand here."""
    with office.reading() as session:
        query = select(Dropped, Submission).join(Submission, Submission.id == Dropped.submission_id)
        rows = session.execute(query.where(Dropped.team_id == place.team.id, Dropped.state == "taken")).all()
    for row, submission in rows:
        above, _, name = row.name.rpartition("/")
        if above != place.above.removesuffix("/"):
            continue
        if submission.state == "invalid" and submission.problems_digest:
            found = refusals.all_problems(office.files.read(submission.problems_digest))
            _answer(place, f"{name}.problems.json", found)
        if submission.state in ("invalid", "scored", "failed"):
            _settle(office, row.id, "answered", None)


def _receipt(office: Office, submission_id: str) -> bytes:
    with office.reading() as session:
        query = select(Receipt.content).where(Receipt.submission_id == submission_id, Receipt.kind == "intake")
        return session.scalars(query).one()


def _problems(refusal: RefusedError) -> dict[str, Any]:
    return {"detail": str(refusal), "problems": [problem.as_dict() for problem in refusal.problems]}


def _answer(place: Place, name: str, content: bytes | Mapping[str, Any]) -> None:
    """Write an answer under its name at once or not at all; a folder of answers that is a link gets none."""
    plain = content if isinstance(content, bytes) else (json.dumps(content, indent=1) + "\n").encode()
    with suppress(FileExistsError):
        os.mkdir(ANSWERS, 0o750, dir_fd=place.folder)
    with _open_entry(ANSWERS, place.folder, FOLDER) as folder:
        if folder is not None:
            _write(folder, name, plain)


def _write(folder: int, name: str, content: bytes) -> None:
    fresh = f".{os.urandom(8).hex()}"
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o640, dir_fd=folder), "wb") as file:
        file.write(content)
    try:
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:  # a name that is too long with its ending, or taken by a folder: there is no place for an answer
        os.unlink(fresh, dir_fd=folder)
