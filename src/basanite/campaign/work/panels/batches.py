"""Batches for a crowd platform: a template and a table go out, results come back bound to what was sent (X-18).

Workers' ids are replaced under the campaign's key before anything is stored; the file as it came is kept, encrypted
with a key of the vault. A file that grows on the platform may be imported again and again: each vote counts once.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.sealing import Lock, seal, unseal
from basanite.campaign.store.tables import Assignment, CrowdBatch, Judgement, Panel, PanelImage
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels.items import as_seen
from basanite.campaign.work.panels.lookup import find_panel, items_of, locked_panel, note, scheme_of
from basanite.errors import SettingError
from basanite.problems import Problem
from basanite.work import batches as crowd
from basanite.work.batches import question_xml
from basanite.work.result_files import table

KEYS = "crowd"
"""The kind of secret that binds batches and hides workers, one for each campaign."""
FILES = "crowd-files"
LARGEST = 64 * 2**20
CROWD_ROUND = 1
SHOWN = ("draft", "open")


@dataclass(frozen=True)
class Exported:
    """What goes to the platform."""

    batch_id: str
    number: int
    template: str
    table: bytes
    rows: int
    assignments: int
    """How many workers each row is for (MaxAssignments)."""


@dataclass(frozen=True)
class Imported:
    """What came back."""

    batch_id: str
    votes: int
    """New ones."""
    repeated: int
    """Known from an earlier file."""
    rejected: int
    """Assignments that the requester had rejected on the platform: no votes."""
    problems: tuple[Problem, ...]
    """What was noticed; nothing that stops the import."""


def export_batch(
    session: Session, office: Office, actor: Actor, panel_id: str, *, image_base: str = "", most: int = 0
) -> Exported:
    """Send out the items that still lack judgements: a template, and a table with one sealed row for each."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    if panel.state != "open":
        raise refused("X-18", f"the panel is {panel.state}", "open it first; this freezes its scheme", status=409)
    scheme, row = scheme_of(panel), _fresh(session, office, actor, panel)
    rows = items_of(session, panel.id, ("real", "check"))[: most or None]
    start = (image_base or office.address).rstrip("/")

    def address(image: str) -> str:
        """Where a worker's browser finds a picture: nobody guesses it, and it works as long as the batch is out."""
        return f"{start}/api/v1/crowd/{row.id}/{image}"

    try:
        made = crowd.export_batch(
            scheme, [as_seen(one) for one in rows], batch=row.id, key=_key(office, panel), image_url=address
        )
    except SettingError as error:
        fix = "judge on the server's pages, or correct the answer"
        raise refused("X-18", str(error), fix, status=409) from error
    row.hits, row.assignments = [asdict(hit) for hit in made.hits], made.assignments
    session.add(row)
    session.flush()
    note(session, office, actor, panel, "batch.exported", row.id, number=row.number, rows=len(made.hits))
    return Exported(row.id, row.number, made.template, made.table, len(made.hits), made.assignments)


def _fresh(session: Session, office: Office, actor: Actor, panel: Panel) -> CrowdBatch:
    newest = session.scalar(select(func.max(CrowdBatch.number)).where(CrowdBatch.panel_id == panel.id)) or 0
    row = CrowdBatch(id=random_id(), panel_id=panel.id, number=newest + 1, made=office.clock(), made_by=actor.id)
    row.state, row.known, row.raws = "exported", {}, []
    return row


def _key(office: Office, panel: Panel) -> bytes:
    return office.vault.secret(KEYS, panel.campaign_id)


def batches(session: Session, panel_id: str) -> tuple[CrowdBatch, ...]:
    """The batches of a panel, oldest first."""
    question = select(CrowdBatch).where(CrowdBatch.panel_id == panel_id).order_by(CrowdBatch.number)
    return tuple(session.scalars(question))


def find_batch(session: Session, batch_id: str, *, panel_id: str | None = None) -> CrowdBatch:
    """The batch of an id."""
    row = session.get(CrowdBatch, batch_id)
    if row is None or panel_id not in (None, row.panel_id):
        raise missing("batch")
    return row


def batch_files(session: Session, batch_id: str) -> Exported:
    """A batch as it went out, to be downloaded again."""
    row = find_batch(session, batch_id)
    made = _batch(row)
    names = list(made.hits[0].inputs) if made.hits else []
    rows = [(hit.item, *hit.inputs.values(), hit.seal) for hit in made.hits]
    template = question_xml(scheme_of(find_panel(session, row.panel_id)), names)
    content = table(("item", *names, "seal"), rows)
    return Exported(row.id, row.number, template, content, len(rows), row.assignments)


def _batch(row: CrowdBatch) -> crowd.Batch:
    hits = tuple(crowd.Hit(**hit) for hit in row.hits)
    return crowd.Batch(row.id, hits, "", b"", row.assignments)


def crowd_image(session: Session, office: Office, batch_id: str, image_id: str) -> tuple[bytes, str]:
    """A picture of a batch that is out: for workers, who have no account; any other is not there (X-9)."""
    row = session.get(CrowdBatch, batch_id)
    image = session.get(PanelImage, image_id)
    if row is None or image is None or image.panel_id != row.panel_id:
        raise missing("picture")
    panel = find_panel(session, row.panel_id)
    if panel.state not in SHOWN or not any(image_id in str(hit["inputs"]) for hit in row.hits):
        raise missing("picture")
    return office.files.read(image.digest), image.media


def import_batch(
    session: Session, office: Office, actor: Actor, batch_id: str, raw: bytes, *, file: str = "results.csv"
) -> Imported:
    """Take in results: all of them, or none and what is wrong with each row (X-18)."""
    row = find_batch(session, batch_id)
    panel = locked_panel(session, row.panel_id)
    require_organiser(session, actor, panel.campaign_id)
    if panel.state != "open":
        raise refused("X-18", f"the panel is {panel.state}", "results are imported while it is open", status=409)
    if len(raw) > LARGEST:
        raise refused("X-18", "the file is too large", "import batches one by one", status=413)
    known: Mapping[str, str] = row.known
    read = crowd.read_results(raw, file, _batch(row), scheme_of(panel), key=_key(office, panel), known_hits=known)
    if not read.is_accepted:
        raise RefusedError(read.problems, status=422)
    new = sum(_store_vote(session, office, panel, row, vote) for vote in read.votes)
    row.known, row.state = dict(read.hits), "imported"
    # encrypted whatever the settings say: it names workers
    row.raws = [*row.raws, office.sealed.put(seal([raw], _lock(office, panel))).digest]
    row.imported, row.imported_by = office.clock(), actor.id
    session.flush()
    counted = Imported(row.id, new, len(read.votes) - new, read.rejected, read.problems)
    facts = {"votes": new, "repeated": counted.repeated, "rejected": read.rejected}
    note(session, office, actor, panel, "batch.imported", row.id, **facts)
    return counted


def _store_vote(session: Session, office: Office, panel: Panel, row: CrowdBatch, vote: crowd.Vote) -> bool:
    """Store a vote once; False if this worker's vote on this item is there."""
    place = select(Assignment).where(Assignment.item_id == vote.item, Assignment.person_id == vote.judge)
    if session.scalar(place) is not None:
        return False
    now = office.clock()
    given = Assignment(panel_id=panel.id, item_id=vote.item, person_id=vote.judge, round=CROWD_ROUND, position=1)
    given.state, given.made, given.flipped = "done", now, False
    session.add(given)
    session.flush()
    session.add(_judgement(panel, given, vote, f"{row.id}:{given.id}", office))
    session.flush()
    return True


def _judgement(panel: Panel, given: Assignment, vote: crowd.Vote, key: str, office: Office) -> Judgement:
    return Judgement(
        panel_id=panel.id,
        assignment_id=given.id,
        item_id=given.item_id,
        person_id=given.person_id,
        number=1,
        key=key,
        answers=dict(vote.answers),
        flags=list(vote.flags),
        seconds=round(vote.seconds, 3),
        scheme_version=panel.scheme_version,
        at=office.clock(),
    )


def _lock(office: Office, panel: Panel) -> Lock:
    return Lock(office.vault.secret(FILES, panel.campaign_id))


def raw_results(session: Session, office: Office, actor: Actor, batch_id: str) -> Sequence[bytes]:
    """The files as they came, for an organiser who must look something up; that it was done stands in the log."""
    row = find_batch(session, batch_id)
    panel = find_panel(session, row.panel_id)
    require_organiser(session, actor, panel.campaign_id)
    note(session, office, actor, panel, "batch.raw", row.id)
    lock = _lock(office, panel)
    return [b"".join(unseal(io.BytesIO(office.sealed.read(digest)), lock)) for digest in row.raws]


def as_dict(row: CrowdBatch) -> dict[str, Any]:
    """A batch in a list."""
    facts = {"batch": row.id, "number": row.number, "state": row.state, "rows": len(row.hits)}
    return {**facts, "made": row.made, "imported": row.imported}
