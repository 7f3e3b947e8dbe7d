"""What a panel ends in: files of declared formats, and a new version of the truth that is previewed as any other.

The digest of the whole set of judgements lies in a file of its own beside the truth, so it is part of what is committed
to: it enters the key of every result and its receipt (S-18).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans, references
from basanite.campaign.actions.references import Material, NewVersion, Place
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Panel, Reference, RoundEnd
from basanite.campaign.work.decisions import add_version
from basanite.campaign.work.panels.adjudication import decisions
from basanite.campaign.work.panels.desk import CRITERIA, RANKING
from basanite.campaign.work.panels.judgements import counted_judgements
from basanite.campaign.work.panels.lookup import as_item, find_panel, items_of, note, scheme_of
from basanite.campaign.work.panels.monitor import EVERY_ROLE
from basanite.formats.archives.output import write_archive
from basanite.work.answers import Decision, Judged, Ranking, by_item
from basanite.work.combination import rule_of
from basanite.work.items import Item
from basanite.work.panel_files import digest_of_judgements, files_of
from basanite.work.result_files import Made, lines, plain
from basanite.work.scheme import Scheme

NAMES = "judge-names"
"""The kind of secret under which judges of a campaign get their names in files."""
CROWD = "judge-"


def namer(office: Office, campaign_id: str) -> Callable[[str], str]:
    """What stands for a judge in files: the same in the whole campaign, and of no use to anybody without the vault."""

    def name(person_id: str) -> str:
        if person_id.startswith(CROWD):
            return person_id
        return CROWD + office.vault.hmac(NAMES, campaign_id, person_id.encode())[:16]

    return name


def judged_of(session: Session, office: Office, panel: Panel) -> Judged:
    """All judgements that count, rankings, criteria and decisions of a panel."""
    name = namer(office, panel.campaign_id)
    given = [one.plain(name(one.judge)) for one in counted_judgements(session, panel.id, EVERY_ROLE)]
    ends = session.scalars(select(RoundEnd).where(RoundEnd.panel_id == panel.id).order_by(RoundEnd.at, RoundEnd.id))
    rankings: list[Ranking] = []
    criteria: dict[str, list[str]] = {}
    for row in ends:
        if row.kind == RANKING:
            rankings.append(Ranking(name(row.person_id), row.round, tuple(row.content)))
        elif row.kind == CRITERIA:
            criteria.setdefault(name(row.person_id), []).extend(row.content)
    settled = [
        Decision(item, row.answers if row.kind == "decided" else None, row.reason)
        for item, row in sorted(decisions(session, panel.id).items())
    ]
    return Judged(given, rankings, settled, criteria)


VERDICTS = ("judge", "query", "document", "verdict", "summary")
KEYS = ("key-query", "key-domain")
WHOLE = {"panels": "panels.csv", "qrels": "qrels.txt"}
"""Files that are a reference by themselves, by what a scheme calls them."""
RECORD = "judged.json"


@dataclass(frozen=True)
class Ended:
    """The files of a panel as it stands, and what is behind them."""

    files: tuple[Made, ...]
    digest: str
    """Of all judgements of real items that count (S-18)."""
    rule: str
    """How answers were combined, in words (C08)."""
    undecided: int
    """Items without an answer: not judged yet, tied, or none of these."""
    judgements: int
    items: int


@dataclass(frozen=True)
class _Outcome:
    """A panel read once: what everything here is made of."""

    panel: Panel
    scheme: Scheme
    items: tuple[Item, ...]
    judged: Judged

    @property
    def digest(self) -> str:
        """Of the judgements of real items, which are those that count."""
        real = {item.id for item in self.items if item.role == "real"}
        return digest_of_judgements(one for one in self.judged.judgements if one.item in real)


def files(session: Session, office: Office, panel_id: str) -> Ended:
    """All files of a panel, with the rule and the digest of what they were made from."""
    read = _read(session, office, panel_id)
    made = files_of(read.scheme, read.items, read.judged)
    open_items = {item for one in made for item in one.undecided}
    real = sum(item.role == "real" for item in read.items)
    return Ended(made, read.digest, rule_of(read.scheme), len(open_items), len(read.judged.judgements), real)


def _read(session: Session, office: Office, panel_id: str) -> _Outcome:
    panel = find_panel(session, panel_id)
    items = tuple(as_item(row) for row in items_of(session, panel_id))
    return _Outcome(panel, scheme_of(panel), items, judged_of(session, office, panel))


def make_reference(
    office: Office, actor: Actor, panel_id: str, place: Place, *, reason: str, unfinished: bool = False
) -> Reference:
    """Make a version of the truth of what a panel said: checked in the child, then added like any other (M88).

    It opens its own transactions, for checking takes its time. A panel with open items is refused, unless the organiser
    says that they may be left out.
    """
    with office.reading() as session:
        read = _read(session, office, panel_id)
        require_organiser(session, actor, read.panel.campaign_id)
        if read.panel.state != "closed":
            fix = "close the panel first: later judgments would not be included"
            raise refused("M88", f"the panel is {read.panel.state}", fix, status=409)
        campaign = plans.current(session, read.panel.campaign_id).campaign
        held = references.active_material(session, read.panel.campaign_id, place)
    _check_finished(read, unfinished=unfinished)
    material = _material(office, read, held)
    references.window_of(campaign, place)
    references.check_files(office, campaign, place, material)
    with office.writing() as session:
        new = NewVersion(place, material, reason)
        row, _ = add_version(session, office, actor, read.panel.campaign_id, new)
        facts = {"reference": row.id, "judgements": read.digest, "rule": rule_of(read.scheme)}
        note(session, office, actor, read.panel, "panel.reference", read.panel.id, **facts)
        return row


def _check_finished(read: _Outcome, *, unfinished: bool) -> None:
    open_items = {item for one in files_of(read.scheme, read.items, read.judged) for item in one.undecided}
    if open_items and not unfinished:
        fix = "have them judged or decided, or allow them to be omitted"
        message = f"{len(open_items)} items have no answer yet"
        raise refused("M88", message, fix, status=409).with_hint("--unfinished")


def _material(office: Office, read: _Outcome, held: Material | None) -> Material:
    """The files of the new version: those of the one that holds, with what the panel made in their place."""
    kinds = read.scheme.files
    if "verdicts" in kinds:
        if held is None:
            fix, hint = "open the task with a reference first", "basanite admin reference add"
            raise refused("M13", "there is no reference that these judgments belong to", fix, status=409).with_hint(
                hint
            )
        made = _seal_file(office, "judgements.tsv", verdicts(read.scheme, read.items, read.judged))
        material = replace(held, judgements=made[0], names={**held.names, **dict([made])})
    else:
        name, content = _reference_file(office, read, kinds)
        made = _seal_file(office, name, content)
        material = Material((made[0],), names=dict([made])).after(held)
    record = _seal_file(office, RECORD, _record(read))
    return replace(material, judged=record[0], names={**material.names, **dict([record])})


def _seal_file(office: Office, name: str, content: bytes) -> tuple[str, str]:
    return office.sealed.put(content).digest, name


def _record(read: _Outcome) -> bytes:
    """What a reference made by people is based on."""
    plain_record = {
        "format": "basanite-judged/1",
        "panel": read.panel.id,
        "scheme": read.panel.scheme_digest,
        "scheme_version": read.panel.scheme_version,
        "rule": rule_of(read.scheme),
        "judgements": read.digest,
        "judges": len({one.judge for one in read.judged.judgements}),
        "decisions": len(read.judged.decisions),
    }
    return json.dumps(plain_record, indent=1, sort_keys=True).encode() + b"\n"


def _reference_file(office: Office, read: _Outcome, kinds: Sequence[str]) -> tuple[str, bytes]:
    made = files_of(read.scheme, read.items, read.judged)
    if any(kind in KEYS for kind in kinds):
        return "key.tgz", _pack_key(office, [one for one in made if one.name.startswith("key/")])
    whole = next((WHOLE[kind] for kind in kinds if kind in WHOLE), "")
    found = next((one for one in made if one.name == whole), None)
    if found is None:
        fix, hint = "take the files as they are", "basanite admin panel files"
        raise refused("M88", "no task takes a reference made by this panel", fix, status=409).with_hint(hint)
    return found.name, found.content


def _pack_key(office: Office, made: Iterable[Made]) -> bytes:
    """The files of a key as the archive that opens a task."""
    with tempfile.TemporaryDirectory(dir=office.sealed.scratch) as folder:
        path = Path(folder) / "key.tgz"
        write_archive([(one.name.removeprefix("key/"), one.content) for one in made], path)
        return path.read_bytes()


def verdicts(scheme: Scheme, items: Sequence[Item], judged: Judged) -> bytes:
    """Votes on all systems' summaries in one table: each bound to the picture that was judged, so that no vote on one
    system's summary counts for another's."""
    question = scheme.combined_question
    said = by_item(judged.judgements)
    rows = {
        (
            one.judge,
            plain(str(facts.get("query", ""))),
            plain(str(facts.get("document", ""))),
            str(one.answers[question.id]),
            facts.get("summary", ""),
        )
        for item in items
        if item.role == "real" and question is not None
        for facts in item.all_facts
        for one in said.get(item.id, ())
        if question.id in one.answers
    }
    return lines([VERDICTS, *sorted(rows)])
