"""Campaigns made and edited in parts: from a template, entry by entry, and published when they are ready (P-35).

An edit says which version of the file it was made on. What somebody else changed meanwhile stays; where both changed
the same entry the second is told and decides.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.actions.calendar import deviation_facts, warning_lines
from basanite.campaign.actions.registry import Argument, Arguments, At, Option, Outcome, Reason, action
from basanite.campaign.model.file_edit import edit_entries, insert_entry, remove_entry
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.model.starters import STARTERS, Start, slug_of, start_file
from basanite.campaign.model.zones import TimeError, instant_of, zone_of
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.persons import personal
from basanite.campaign.people.roles import MACHINE, require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import PackFile, Submission

WHOLE: Final = "campaign"
"""What the table that holds all others is called where an edit names it."""
SINGLE: Final = ("about", "judging")
LISTS: Final = (
    *("windows", "packs", "querysets", "domains", "tracks"),
    *("milestones", "agreements", "rules", "claims"),
)
"""Arrays of tables of a campaign's file."""


@dataclass(frozen=True)
class Edit:
    """Other values for one table of a campaign's file; None removes an entry."""

    where: str
    """`campaign`, `about`, `judging`, or an entry of a list by its id: `windows/dev`."""
    values: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0
    """The version of the file that the editor saw; 0 for the newest."""
    reason: str = ""


def edit_plan(session: Session, office: Office, actor: Actor, campaign: str, edit: Edit) -> plans.Plan:
    """Change entries of one table; nothing that somebody else changed since `edit.version` is overwritten unseen."""
    plan = plans.lock_plan(session, campaign)
    require_organiser(session, actor, plan.row.id)
    text = plans.newest_version(session, plan.row.id).text
    document = tomllib.loads(text)
    path = find_path(document, edit.where)
    if edit.version and edit.version != plan.version:
        _check_conflicts(session, office, plan, edit)
    changed = edit_entries(text, path, edit.values)
    if changed == text:
        return plan
    return plans.change_plan(session, office, actor, plan.row.id, changed, reason=edit.reason)


def insert_into_plan(session: Session, office: Office, actor: Actor, campaign: str, edit: Edit) -> plans.Plan:
    """Add an entry to a list of the file: `edit.where` names the list."""
    plan = plans.lock_plan(session, campaign)
    require_organiser(session, actor, plan.row.id)
    if edit.where not in LISTS:
        raise refused("P-35", f"there is no list {edit.where!r}", f"one of: {', '.join(LISTS)}", status=404)
    text = insert_entry(plans.newest_version(session, plan.row.id).text, edit.where, edit.values)
    return plans.change_plan(session, office, actor, plan.row.id, text, reason=edit.reason)


def remove_from_plan(
    session: Session, office: Office, actor: Actor, campaign: str, where: str, *, reason: str = ""
) -> plans.Plan:
    """Take an entry out of a list of the file, unless something already depends on it."""
    plan = plans.lock_plan(session, campaign)
    require_organiser(session, actor, plan.row.id)
    _check_unused(session, plan.row.id, where)
    text = plans.newest_version(session, plan.row.id).text
    table, at = find_path(tomllib.loads(text), where)
    return plans.change_plan(
        session, office, actor, plan.row.id, remove_entry(text, str(table), int(at)), reason=reason
    )


def find_path(document: Mapping[str, Any], where: str) -> tuple[str | int, ...]:
    """Where a table stands in the document; lists are searched by id, or by number where entries have none."""
    if where == WHOLE:
        return ()
    if where in SINGLE:
        return (where,)
    table, _, name = where.partition("/")
    entries = document.get(table, []) if table in LISTS else []
    for at, entry in enumerate(entries):
        if entry_name(entry, at) == name:
            return (table, at)
    known = [f"{table}/{entry_name(entry, at)}" for at, entry in enumerate(entries)] or [WHOLE, *SINGLE, "windows/ID"]
    raise refused("P-35", f"the campaign file has no {where!r}", f"one of: {', '.join(known)}", status=404)


def entry_name(entry: Mapping[str, Any], at: int) -> str:
    """How an entry of a list is named in an address: by its id, or by its number from 1."""
    return str(entry.get("id") or at + 1)


def table_values(document: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What the file says in one table; nothing if it is not there."""
    table: Any = document
    for part in find_path(document, where):
        table = table[part] if isinstance(part, int) else table.get(part, {})
    return dict(table)


def conflicts(before: Mapping[str, Any], now: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """The entries that both sides changed to something different."""
    return [key for key, value in values.items() if before.get(key) != now.get(key) and now.get(key) != value]


def _check_conflicts(session: Session, office: Office, plan: plans.Plan, edit: Edit) -> None:
    versions = {one.version: one for one in plans.plan_versions(session, plan.row.id)}
    if edit.version not in versions:
        raise missing("version")
    said = {number: _values_or_nothing(tomllib.loads(one.text), edit.where) for number, one in versions.items()}
    both = conflicts(said[edit.version], said[plan.version], edit.values)
    if both:
        changed = [n for n in versions if n > edit.version and any(said[n].get(k) != said[n - 1].get(k) for k in both)]
        maker = versions[max(changed)].made_by
        who = "the command line" if maker in MACHINE else personal(session, office, maker).name
        message = f"{who or 'somebody'} changed {' and '.join(both)} since you opened this page"
        raise refused("P-35", message, "compare with what is active now, then save again", status=409)


def _values_or_nothing(document: Mapping[str, Any], where: str) -> dict[str, Any]:
    table, _, name = where.partition("/")
    there = table not in LISTS or any(entry_name(one, at) == name for at, one in enumerate(document.get(table, [])))
    return table_values(document, where) if there else {}


def _check_unused(session: Session, campaign_id: str, where: str) -> None:
    table, _, name = where.partition("/")
    if table not in LISTS:
        raise missing("entry")
    runs = select(Submission.id).where(Submission.campaign_id == campaign_id, Submission.window == name)
    files = select(PackFile.id).where(PackFile.campaign_id == campaign_id, PackFile.pack == name)
    if table == "windows" and session.scalars(runs.limit(1)).first():
        raise refused("P-35", f"window {name!r} has submissions", "close it instead: nothing is ever lost", status=409)
    if table == "packs" and session.scalars(files.limit(1)).first():
        raise refused("P-35", f"data pack {name!r} has files", "keep it; files are never removed", status=409)


def publish_campaign(session: Session, office: Office, actor: Actor, campaign: str) -> plans.Plan:
    """Show a draft to everybody; a campaign cannot become a draft again."""
    plan = plans.lock_plan(session, campaign)
    require_organiser(session, actor, plan.row.id)
    if plan.row.published is not None:  # pressed twice, or by two organizers: nothing is left to do
        return plan
    now = office.clock()
    plan.row.published = now
    session.flush()
    here = plan.row.id
    events.record(
        session,
        "campaign.published",
        at=now,
        actor=actor.id,
        subject=here,
        campaign_id=here,
        data={"version": plan.version},
    )
    plans.freeze_opened(session, office, here)
    return plan


class NewFromTemplate(Arguments):
    """What a new campaign is called, and when it runs."""

    template: Annotated[str, Argument("The template.", choices=tuple(STARTERS))]
    title: Annotated[str, Option("Its name for people.", required=True)]
    slug: Annotated[str, Option("Its name in addresses. [default: made from the title]")] = ""
    task: Annotated[str, Option("What is submitted. [default: the template's]")] = ""
    opens: Annotated[str, Option('When it begins, like "2026-03-01 00:00". [default: now]')] = ""
    closes: Annotated[str, Option("When it ends. [default: after four weeks]")] = ""
    zone: Annotated[str, Option("Its time zone.", show_default=True)] = "UTC"
    description: Annotated[str, Option("What is evaluated, and why, in Markdown.")] = ""


class OneEdit(Arguments):
    """Other values of one table."""

    where: Annotated[str, Argument("campaign, about, judging, or a list with an id: windows/dev.", metavar="WHERE")]
    set: Annotated[tuple[str, ...], Option('An entry as the file writes it: closes = "2026-03-01 00:00".')] = ()
    unset: Annotated[tuple[str, ...], Option("The key of an entry to remove.")] = ()
    version: Annotated[
        int, Option("The version that you saw; conflicts are refused. [default: the newest]", least=0)
    ] = 0
    reason: Reason = ""


class OneEntry(Arguments):
    """A new entry of a list."""

    where: Annotated[str, Argument("The list.", choices=LISTS)]
    set: Annotated[tuple[str, ...], Option('An entry as the file writes it: id = "dev".')] = ()
    reason: Reason = ""


class OnePlace(Arguments):
    """An entry of a list."""

    where: Annotated[str, Argument("A list with an id: windows/dev.", metavar="WHERE")]
    reason: Reason = ""


@action(
    "campaign create",
    role="administrator",
    hint='blind --title "Labels 2026" --task classification --data season',
    logs="campaign.added",
)
def create(at: At, given: NewFromTemplate) -> Outcome:
    """Start a campaign from a template. It is a draft that only organizers see until it is published."""
    text = start_file(given.template, _start(at.office, given))
    row = plans.add_campaign(*at.who, text, draft=True)
    words = f"Campaign {row.slug} is a draft. Add references and files, then publish it."
    return Outcome({"slug": row.slug, "published": False}, (words,), hint="Next: basanite admin campaign publish")


def _start(office: Office, given: NewFromTemplate) -> Start:
    starter = STARTERS.get(given.template)
    if starter is None:
        raise refused("P-35", f"there is no template {given.template!r}", f"one of: {', '.join(STARTERS)}", status=422)
    title = given.title.strip()
    slug = given.slug.strip() or slug_of(title)
    if not title or not slug:
        what = "title" if not title else "name for addresses"
        raise refused("P-35", f"the {what} is missing", f"enter a {what}", status=422)
    try:
        now = office.clock().astimezone(zone_of(given.zone)).replace(second=0, microsecond=0, tzinfo=None)
        opens = _local(given.opens, given.zone) if given.opens else now
        closes = _local(given.closes, given.zone) if given.closes else opens + timedelta(days=28)
    except TimeError as error:
        raise refused("P-27", str(error), "choose a date and a time zone", status=422) from None
    if closes <= opens:
        raise refused("P-27", "the campaign closes before it opens", "choose a later end", status=422)
    return Start(slug, title, given.task or starter.task, opens, closes, given.zone, given.description.strip())


def _local(text: str, zone: str) -> datetime:
    return instant_of(text, zone).utc.astimezone(zone_of(zone)).replace(tzinfo=None)


@action("campaign publish", hint="--data season", logs="campaign.published")
def publish(at: At, given: Arguments) -> Outcome:
    """Publish a draft: everybody sees the campaign, and windows that have opened are frozen."""
    plan = publish_campaign(*at.who, at.campaign_id)
    return Outcome({"slug": plan.row.slug, "published": True}, (f"Campaign {plan.row.slug} is public.",))


@action(
    "campaign edit",
    hint="windows/dev --set 'title = \"Development\"' --data season",
    logs="campaign.changed plan.deviated",
)
def edit_entry(at: At, given: OneEdit) -> Outcome:
    """Change entries of one table of the campaign's file; the rest of the file stays as it is written."""
    values = entries_of(given.set) | dict.fromkeys(given.unset)
    before = at.plan.version
    edit = Edit(given.where, values, given.version, given.reason)
    return _edit_outcome(at, edit_plan(*at.who, at.campaign_id, edit), before)


@action("campaign insert", hint="packs --set 'id = \"EVAL\"' --data season", logs="campaign.changed")
def insert(at: At, given: OneEntry) -> Outcome:
    """Add an entry to a list of the campaign's file."""
    edit, before = Edit(given.where, entries_of(given.set), reason=given.reason), at.plan.version
    return _edit_outcome(at, insert_into_plan(*at.who, at.campaign_id, edit), before)


@action("campaign remove", hint="milestones/kickoff --data season", logs="campaign.changed plan.deviated")
def remove(at: At, given: OnePlace) -> Outcome:
    """Remove an entry from a list of the campaign's file, unless submissions or files depend on it."""
    before = at.plan.version
    return _edit_outcome(at, remove_from_plan(*at.who, at.campaign_id, given.where, reason=given.reason), before)


def _edit_outcome(at: At, plan: plans.Plan, before: int) -> Outcome:
    new = plan.version != before
    found = [one for one in plans.deviations(at.session, plan.row.id) if new and one.to_version == plan.version]
    words = [f"{plan.campaign.slug} is at version {plan.version}." if new else "Nothing changed."]
    words += [f"Deviation in {one.window}: {item['what']}" for one in found for item in one.changes]
    shown = {"slug": plan.campaign.slug, "version": plan.version, "changed": new}
    return Outcome(
        shown | {"deviations": [deviation_facts(one) for one in found]}, (*words, *warning_lines(plan.campaign))
    )


def entries_of(written: tuple[str, ...]) -> dict[str, Any]:
    """Entries as a file writes them; what cannot be read is refused."""
    found: dict[str, Any] = {}
    for one in written:
        try:
            found |= tomllib.loads(one)
        except tomllib.TOMLDecodeError as error:
            fix = 'write key = value as in the file; texts are quoted: title = "Development"'
            raise refused("P-35", f"{one[:80]!r} is no entry: {error}", fix, status=422) from None
    return found
