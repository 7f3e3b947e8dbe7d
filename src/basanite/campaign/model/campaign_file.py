"""Reading a campaign's file: every problem at once, each with its line and fix; nothing is half accepted.

What must fit together is checked here: names that exist, times in order, quotas that add up, rows that differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import combinations
from typing import Final

from basanite import registry
from basanite.campaign.model import windows
from basanite.campaign.model.calendar import TYPES
from basanite.campaign.model.exposure import USUAL_LOOKS
from basanite.campaign.model.file_entries import FAR, CampaignTable
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.redaction import NEVER_AN_EVALUATION, USUAL_ERRORS
from basanite.campaign.model.zones import zone_of
from basanite.errors import BasaniteError, InvalidInputError
from basanite.formats.archives.archive_names import TASKS
from basanite.formats.config_file import read_section
from basanite.formats.toml_file import LARGEST, TomlReport, entry_lines, parse_toml
from basanite.problems import Findings
from basanite.registry import suggestion
from basanite.scoring import find_task

KEY: Final = "primary"


def check_headlines(window: Window, entry: CampaignTable) -> None:
    """A metric that each task has, that ranks, and that an evaluation may be decided by."""
    by_task = entry.values.get(KEY)
    for task in by_task if isinstance(by_task, dict) else ():
        if task not in window.tasks:
            message = f"`{KEY}` of {entry.place} names {task!r}, which is not one of its tasks"
            entry.add(message, suggestion(task, window.tasks), key=KEY, found=task, rule="S-27")
    for task in window.tasks:
        name = window.settings_of(task).get(KEY)
        why = _objection(task, str(name)) if name else ""  # an empty one was told already
        if why:
            fix = "name a metric of the task that can rank systems"
            entry.add(f"the primary metric of {entry.place}: {why}", fix, key=KEY, found=str(name), rule="S-27")


def _objection(task: str, name: str) -> str:
    """Why a metric cannot be the headline of a task; empty if it can, or if there is no such task."""
    if task.lower() not in registry.names("tasks"):
        return ""
    try:
        found = find_task(task.lower())
        chosen = found.metric(found.headline(name))
    except BasaniteError as error:
        return str(error).rstrip(".")
    if chosen.optimistic:
        return f"{name} is selected on the test data, so it cannot rank a leaderboard"
    if name in NEVER_AN_EVALUATION:
        return f"{name} is for development only, so it cannot rank a leaderboard"
    return ""


def check_quota(window: Window, entry: CampaignTable) -> None:
    """Report what is inconsistent in the quota of a window."""
    for name, most in window.quota.types.items():
        _check_name(window, name, entry)
        if most > window.quota.count:
            fix = "write a count that is at least as large"
            message = f"the quota of {entry.place} allows {most} {name} of {window.quota.count} in total"
            entry.add(message, fix, key="quota", found=name, rule="M66")
    _check_mixture(window, entry)
    if window.kind == "evaluation":
        _check_primary(window, entry)


def _check_name(window: Window, name: str, entry: CampaignTable) -> None:
    task, _, kind = name.rpartition("/")
    if kind not in TYPES:
        words = suggestion(kind, TYPES)
        entry.add(f"the quota of {entry.place}: there is no type {kind!r}", words, key="quota", found=name, rule="M57")
    if task and task not in window.tasks:
        words = suggestion(task, window.tasks)
        message = f"the quota of {entry.place} limits {task!r}, which the window does not accept"
        entry.add(message, words, key="quota", found=name, rule="M57")


def _check_mixture(window: Window, entry: CampaignTable) -> None:
    """Bounds by type and bounds by task cannot both hold: the latter share one count (M67)."""
    bare = [name for name in window.quota.types if "/" not in name]
    if bare and len(bare) < len(window.quota.types):
        fix = "give the task in all of them, or create two windows"
        entry.add(f"the quota of {entry.place} mixes limits with and without a task", fix, key="quota", rule="M67")


def _check_primary(window: Window, entry: CampaignTable) -> None:
    """Exactly one primary in an evaluation week (M66)."""
    primaries = {name: most for name, most in window.quota.types.items() if name.endswith("primary")}
    if "primary" in primaries and primaries["primary"] != 1:
        fix = "write types = { primary = 1, contrastive = 4 }"
        entry.add(f"{entry.place} must have exactly one primary", fix, key="quota", rule="M66")
    elif primaries and "primary" not in primaries and sum(primaries.values()) != 1:
        fix = 'write types = { "E2E/primary" = 1, "CLIR/primary" = 0, "CLIR/contrastive" = 4 }'
        entry.add(f"the tasks of {entry.place} must have exactly one primary together", fix, key="quota", rule="M67")


IDENTIFIED = ("tracks", "packs", "querysets", "windows", "milestones", "agreements", "rules")


def check(campaign: Campaign, top: CampaignTable) -> None:
    """Report everything that does not fit; entries that could not be read at all are left alone."""
    for key in IDENTIFIED:
        _check_twice(top, key)
    _check_seed(campaign, top)
    _check_packs(campaign, top)
    for release, entry in zip(campaign.domains, top.tables("domains"), strict=True):
        _check_known(entry, "languages", release.languages, campaign.languages, "M75")
    for milestone, entry in zip(campaign.milestones, top.tables("milestones"), strict=True):
        if milestone.ends and milestone.ends.utc < milestone.at.utc:
            entry.add(f"{entry.place} ends before it starts", "write `at` first", key="ends", rule="P-19")
    rows = tuple(zip(campaign.windows, top.tables("windows"), strict=True))
    for window, entry in rows:
        _check_window(campaign, window, entry)
    if not campaign.windows:
        top.add("the campaign has no windows", "write a [[windows]] for each row of the calendar", key="windows")
    _check_overlaps(campaign, rows)


def _check_twice(top: CampaignTable, key: str) -> None:
    tables = top.tables(key)
    counts = Counter(str(entry.values.get("id")) for entry in tables)
    for entry in tables:
        name = entry.values.get("id")
        if isinstance(name, str) and counts[name] > 1:
            entry.add(f"{key} has the ID {name!r} more than once", "give each a unique ID", key="id", found=name)


def _check_seed(campaign: Campaign, top: CampaignTable) -> None:
    """Reject a seed in the file of a sealed campaign, because it can be guessed (X-1)."""
    if campaign.sealed and "seed" in top.values:
        fix = "remove `seed`: a sealed campaign draws its own; or write sealed = false"
        top.add("a sealed campaign has a seed in its file", fix, key="seed", found=str(top.values["seed"]), rule="X-1")


def _check_packs(campaign: Campaign, top: CampaignTable) -> None:
    for pack, entry in zip(campaign.packs, top.tables("packs"), strict=True):
        _check_known(entry, "language", [pack.language] if pack.language else [], campaign.languages, "M62")
        agreements = [agreement.id for agreement in campaign.agreements]
        _check_known(entry, "agreement", [pack.agreement] if pack.agreement else [], agreements, "P-26")
        if pack.key_at and FAR not in (pack.key_at, pack.released) and pack.key_at.utc < pack.released.utc:
            fix = "publish the key when the data pack is released, or later"
            entry.add(f"the key of {entry.place} is published before the data pack", fix, key="key_at", rule="M89")


def _check_known(entry: CampaignTable, key: str, names: Iterable[str], known: Sequence[str], rule: str) -> None:
    for name in names:
        if name not in known:
            words = suggestion(name, known) if known else f"none is declared: add it, or remove `{key}`"
            entry.add(
                f"`{key}` of {entry.place} names {name!r}, which is unknown", words, key=key, found=name, rule=rule
            )


def _check_window(campaign: Campaign, window: Window, entry: CampaignTable) -> None:
    _check_known(entry, "dataset", window.dataset, [pack.id for pack in campaign.packs], "M62")
    _check_known(entry, "querysets", window.querysets, [one.id for one in campaign.querysets], "M62")
    _check_known(entry, "tracks", window.tracks, [track.id for track in campaign.tracks], "P-31")
    _check_known(entry, "languages", window.languages, campaign.languages, "M62")
    codes = [code for release in campaign.domains for code in release.codes]
    _check_known(entry, "domains", window.domains, codes, "M75")
    _check_tasks(window, entry)
    check_headlines(window, entry)
    check_quota(window, entry)
    _check_times(window, entry)
    _check_feedback(campaign, window, entry)
    _check_domains_out(campaign, window, entry)
    _check_superset(campaign, window, entry)
    _check_programs(window, entry)


def _check_programs(window: Window, entry: CampaignTable) -> None:
    """Programs that nobody could run, and scorers for tasks that score by themselves (G-3, G-6)."""
    programs, known = window.programs, registry.names("runners")
    if programs is not None and programs.runner not in known:
        message = f"`programs` of {entry.place} names a runner {programs.runner!r}, which is unknown"
        entry.add(message, suggestion(programs.runner, known), key="programs", found=programs.runner, rule="G-3")
    if programs is not None and programs.mode != "files" and (programs.in_folder or programs.header):
        fix = 'write mode = "files", or answers = "answers.jsonl" without a header'
        entry.add(f"`programs` of {entry.place} cannot answer line by line", fix, key="programs", rule="G-5")
    if window.scorer is not None and window.tasks != ("scores",):
        fix = 'write tasks = ["scores"], or remove `scorer`'
        entry.add(f"{entry.place} has a scorer of its own and other tasks", fix, key="scorer", rule="G-6")


def _check_tasks(window: Window, entry: CampaignTable) -> None:
    registered = registry.names("tasks")
    for task in window.tasks:
        if task not in TASKS and task not in registered:
            words = suggestion(task, (*TASKS, *registered))
            entry.add(f"there is no task {task!r}", words, key="tasks", found=task, rule="M57")


def _check_times(window: Window, entry: CampaignTable) -> None:
    if FAR in (window.opens, window.closes):
        return
    if window.closes.utc <= window.opens.utc:
        fix = "write the earlier time as `opens`; the end of a day is 24:00"
        entry.add(f"{entry.place} closes before it opens", fix, key="closes", rule="P-27")
    earliest = window.closes.utc if windows.is_blind(window) else window.opens.utc
    for moment in window.results_at:
        if moment.utc < earliest:
            fix = "write times after it closes" if windows.is_blind(window) else "write times after it opens"
            message = f"results of {entry.place} would be shown before it {fix.rpartition(' ')[2]}"
            entry.add(message, fix, key="results_at", found=str(moment.utc), rule="X-16")


def _check_feedback(campaign: Campaign, window: Window, entry: CampaignTable) -> None:
    if window.board != "primary" and windows.is_blind(window):
        fix = "remove `board`: each team chooses its primary run"
        entry.add(f"{entry.place} is blind but its board shows the {window.board} run", fix, key="board", rule="P-38")
    if window.kind != "development" and window.feedback != "none":
        fix = 'write feedback = "none": results are released later, or kind = "development"'
        entry.add(f"{entry.place} is blind but gives feedback", fix, key="feedback", rule="M68")
    if window.feedback == "full" and windows.is_sealed(campaign, window) and not window.forced.strip():
        fix = 'write feedback = "limited", or forced = "the reason why"'
        entry.add(f"{entry.place} gives full feedback on a sealed data set", fix, key="feedback", rule="X-7")
    for key, what in (("ladder", "a ladder"), ("looks", "looks")):
        if getattr(window, key) is not None and windows.is_blind(window):
            entry.add(f"{entry.place} has {what} but shows nothing", f"remove `{key}`", key=key, rule="S-17")


def _check_domains_out(campaign: Campaign, window: Window, entry: CampaignTable) -> None:
    """A row cannot ask for domains that nobody knows yet (M75)."""
    out = {code for release in campaign.domains if release.released.utc <= window.opens.utc for code in release.codes}
    known = {code for release in campaign.domains for code in release.codes}
    for code in window.domains:
        if code in known - out:
            fix = "open the window later, or release the domain earlier"
            entry.add(f"{code} is released after {entry.place} opens", fix, key="domains", found=code, rule="M75")


def _check_superset(campaign: Campaign, window: Window, entry: CampaignTable) -> None:
    """A row on part of what is out would take nothing (M63)."""
    wanted = windows.superset(campaign, window.dataset, window.opens.utc)
    if (
        window.opens != FAR
        and set(wanted) != set(window.dataset)
        and {p.id for p in campaign.packs} >= {*window.dataset}
    ):
        fix = f"write dataset = {list(wanted)}, or give the data packs families of their own"
        entry.add(f"{entry.place} omits released data packs of its families", fix, key="dataset", rule="M63")


def _check_overlaps(campaign: Campaign, rows: Sequence[tuple[Window, CampaignTable]]) -> None:
    """What is submitted must belong to one row (M62)."""
    for (first, _), (second, entry) in combinations(rows, 2):
        shared = _shared_input(campaign, first, second)
        if shared:
            fix = f"let one end when the other starts, or remove {shared} from one"
            message = f"{entry.place} and {first.id!r} both accept {shared} at the same time"
            entry.add(message, fix, key="opens", found=first.id)


def _shared_input(campaign: Campaign, first: Window, second: Window) -> str:
    """A task that two rows take at the same time for the same input; "" if there is none."""
    at_once = first.opens.utc < second.closes.utc and second.opens.utc < first.closes.utc
    if not at_once or FAR in (first.opens, first.closes, second.opens, second.closes):
        return ""
    languages = set(windows.languages(campaign, first)) & set(windows.languages(campaign, second))
    same = set(first.dataset) == set(second.dataset) and (languages or not campaign.languages)
    tracks = not first.tracks or not second.tracks or set(first.tracks) & set(second.tracks)
    tasks = set(first.tasks) & set(second.tasks)
    if first.querysets != second.querysets:
        tasks &= windows.TASKS_WITHOUT_QUERIES
    return " and ".join(sorted(tasks)) if same and tracks else ""


def load(text: str) -> Campaign:
    """The campaign in a text; what is wrong with it is raised as one error with all problems."""
    campaign, findings = read_campaign(text)
    if campaign is None:
        raise InvalidInputError("campaign", findings)
    return campaign


def read_campaign(text: str, file: str = "campaign.toml") -> tuple[Campaign | None, Findings]:
    """The campaign in a text, if nothing is wrong with it, and everything that is."""
    findings = Findings(limit=None)
    report = TomlReport(file, CampaignTable.rule, findings)
    if len(text) > LARGEST:
        report.add(
            "the file is larger than 4 MiB", "a campaign file has a few pages of text: check that it is the right file"
        )
        return None, findings
    document = parse_toml(text, "campaign", report)
    if document is None:
        return None, findings
    top = CampaignTable(document, (), file, entry_lines(text), findings)
    campaign = read_section(Campaign, top)
    rows = zip(campaign.windows, top.tables("windows"), strict=True)
    campaign = replace(campaign, windows=tuple(_window_with_looks(campaign, window, entry) for window, entry in rows))
    check(campaign, top)
    once = Findings(limit=None)  # each problem once: an entry may have been looked at from several sides
    once.extend(sorted(dict.fromkeys(findings), key=lambda problem: problem.line or 0))
    return (campaign if findings.valid else None), once


def _window_with_looks(campaign: Campaign, window: Window, entry: CampaignTable) -> Window:
    """One of the two is off only where the file says so, and both only where it says both."""
    if windows.is_blind(window) or not windows.is_sealed(campaign, window):
        return window
    if window.looks is not None or window.ladder is not None:
        return window
    if "looks" not in entry.values:
        return replace(window, looks=USUAL_LOOKS)
    return window if "ladder" in entry.values else replace(window, ladder=USUAL_ERRORS)


_DATE: Final = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?=[ T][0-9]{2}:[0-9]{2})")


def move_dates(text: str, start: datetime) -> str:
    """The file with every date moved by the same number of weeks, so that its first window has just opened at `start`.

    Whole weeks, because quotas and deadlines follow the days of the week. The clock times stay as they are written.
    """
    campaign = load(text)
    zone = zone_of(campaign.zone)
    first = min(window.opens.utc for window in campaign.windows).astimezone(zone).replace(tzinfo=None)
    weeks = (start.astimezone(zone).replace(tzinfo=None) - first) // timedelta(weeks=1)
    return _DATE.sub(lambda found: str(date.fromisoformat(found[0]) + timedelta(weeks=weeks)), text)
