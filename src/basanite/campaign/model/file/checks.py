"""What must fit together in a campaign: names that exist, times in order, quotas that add up, rows that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from basanite import registry
from basanite.campaign.model import stages
from basanite.campaign.model.file.entries import FAR, CampaignEntries
from basanite.campaign.model.file.headline_checks import check_headlines
from basanite.campaign.model.file.quota_checks import check_quota
from basanite.campaign.model.plan import Campaign, Window
from basanite.formats.packs.archive_names import TASKS
from basanite.registry import suggestion

IDENTIFIED = ("tracks", "packs", "querysets", "windows", "milestones", "agreements", "rules")


def check(campaign: Campaign, top: CampaignEntries) -> None:
    """Report everything that does not fit; entries that could not be read at all are left alone."""
    for key in IDENTIFIED:
        _check_twice(top, key)
    _check_seed(campaign, top)
    _check_packs(campaign, top)
    _check_releases(campaign, top)
    _check_milestones(campaign, top)
    _check_judging(top)
    rows = tuple(zip(campaign.windows, top.tables("windows"), strict=True))
    for window, entry in rows:
        _check_window(campaign, window, entry)
    if not campaign.windows:
        top.add("the campaign has no windows", "write a [[windows]] for each row of the calendar", key="windows")
    _check_overlaps(campaign, rows)


def _check_twice(top: CampaignEntries, key: str) -> None:
    tables = top.tables(key)
    counts = Counter(str(entry.values.get("id")) for entry in tables)
    for entry in tables:
        name = entry.values.get("id")
        if isinstance(name, str) and counts[name] > 1:
            entry.add(f"{key} has the id {name!r} more than once", "give each an id of its own", key="id", found=name)


def _check_seed(campaign: Campaign, top: CampaignEntries) -> None:
    """A seed that somebody typed in can be guessed (X-1)."""
    if campaign.sealed and "seed" in top.values:
        fix = "take `seed` out: a sealed campaign draws its own; or write sealed = false"
        top.add("a sealed campaign has a typed-in seed", fix, key="seed", found=str(top.values["seed"]), rule="X-1")


def _check_packs(campaign: Campaign, top: CampaignEntries) -> None:
    for pack, entry in zip(campaign.packs, top.tables("packs"), strict=True):
        _check_known(entry, "language", [pack.language] if pack.language else [], campaign.languages, "M62")
        agreements = [agreement.id for agreement in campaign.agreements]
        _check_known(entry, "agreement", [pack.agreement] if pack.agreement else [], agreements, "P-26")
        if pack.key_at and FAR not in (pack.key_at, pack.released) and pack.key_at.utc < pack.released.utc:
            fix = "publish the key when the pack is out, or later"
            entry.add(f"the key of {entry.place} comes before the pack", fix, key="key_at", rule="M89")


def _check_releases(campaign: Campaign, top: CampaignEntries) -> None:
    for release, entry in zip(campaign.domains, top.tables("domains"), strict=True):
        _check_known(entry, "languages", release.languages, campaign.languages, "M75")


def _check_milestones(campaign: Campaign, top: CampaignEntries) -> None:
    for milestone, entry in zip(campaign.milestones, top.tables("milestones"), strict=True):
        if milestone.ends and milestone.ends.utc < milestone.at.utc:
            entry.add(f"{entry.place} ends before it begins", "write `at` first", key="ends", rule="P-19")


def _check_judging(top: CampaignEntries) -> None:
    """What rehearsal counts with; other keys of [judging] belong to judging itself."""
    table = top.table("judging", needed=False)
    for key in ("k", "judges", "per_judge"):
        table.whole(key, None, 1, 10**6)


def _check_known(entry: CampaignEntries, key: str, names: Iterable[str], known: Sequence[str], rule: str) -> None:
    for name in names:
        if name not in known:
            words = suggestion(name, known) if known else f"none is declared: add it, or take `{key}` out"
            entry.add(
                f"`{key}` of {entry.place} names {name!r}, which is unknown", words, key=key, found=name, rule=rule
            )


def _check_window(campaign: Campaign, window: Window, entry: CampaignEntries) -> None:
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


def _check_tasks(window: Window, entry: CampaignEntries) -> None:
    registered = registry.names("tasks")
    for task in window.tasks:
        if task not in TASKS and task not in registered:
            words = suggestion(task, (*TASKS, *registered))
            entry.add(f"no task is called {task!r}", words, key="tasks", found=task, rule="M57")


def _check_times(window: Window, entry: CampaignEntries) -> None:
    if FAR in (window.opens, window.closes):
        return
    if window.closes.utc <= window.opens.utc:
        fix = "write the earlier time as `opens`; the end of a day is 24:00"
        entry.add(f"{entry.place} closes before it opens", fix, key="closes", rule="P-27")
    earliest = window.closes.utc if stages.is_blind(window) else window.opens.utc
    for moment in window.results_at:
        if moment.utc < earliest:
            fix = "write times after it closes" if stages.is_blind(window) else "write times after it opens"
            message = f"results of {entry.place} would be shown before it {fix.rpartition(' ')[2]}"
            entry.add(message, fix, key="results_at", found=str(moment.utc), rule="X-16")


def _check_feedback(campaign: Campaign, window: Window, entry: CampaignEntries) -> None:
    if window.kind != "development" and window.feedback != "none":
        fix = 'write feedback = "none": results are released later, or kind = "development"'
        entry.add(f"{entry.place} is blind but gives feedback", fix, key="feedback", rule="M68")
    if window.feedback == "full" and stages.is_sealed(campaign, window) and not window.forced.strip():
        fix = 'write feedback = "limited", or forced = "the reason why"'
        entry.add(f"{entry.place} gives full feedback on a sealed set", fix, key="feedback", rule="X-7")
    for key, what in (("ladder", "a ladder"), ("looks", "looks")):
        if getattr(window, key) is not None and stages.is_blind(window):
            entry.add(f"{entry.place} has {what} but shows nothing", f"take `{key}` out", key=key, rule="S-17")


def _check_domains_out(campaign: Campaign, window: Window, entry: CampaignEntries) -> None:
    """A row cannot ask for domains that nobody knows yet (M75)."""
    out = {code for release in campaign.domains if release.released.utc <= window.opens.utc for code in release.codes}
    known = {code for release in campaign.domains for code in release.codes}
    for code in window.domains:
        if code in known - out:
            fix = "open the window later, or release the domain earlier"
            entry.add(f"{code} is released after {entry.place} opens", fix, key="domains", found=code, rule="M75")


def _check_superset(campaign: Campaign, window: Window, entry: CampaignEntries) -> None:
    """A row on part of what is out would take nothing (M63)."""
    wanted = stages.superset(campaign, window.dataset, window.opens.utc)
    if (
        window.opens != FAR
        and set(wanted) != set(window.dataset)
        and {p.id for p in campaign.packs} >= {*window.dataset}
    ):
        fix = f"write dataset = {list(wanted)}, or give the packs families of their own"
        entry.add(f"{entry.place} leaves out packs of its families that are out", fix, key="dataset", rule="M63")


def _check_overlaps(campaign: Campaign, rows: Sequence[tuple[Window, CampaignEntries]]) -> None:
    """What is submitted must belong to one row (M62)."""
    for (first, _), (second, entry) in combinations(rows, 2):
        shared = _shared_input(campaign, first, second)
        if shared:
            fix = f"let one end when the other begins, or take {shared} out of one"
            message = f"{entry.place} and {first.id!r} both take {shared} at the same time"
            entry.add(message, fix, key="opens", found=first.id)


def _shared_input(campaign: Campaign, first: Window, second: Window) -> str:
    """A task that two rows take at the same time for the same input; "" if there is none."""
    at_once = first.opens.utc < second.closes.utc and second.opens.utc < first.closes.utc
    if not at_once or FAR in (first.opens, first.closes, second.opens, second.closes):
        return ""
    languages = set(stages.languages(campaign, first)) & set(stages.languages(campaign, second))
    same = set(first.dataset) == set(second.dataset) and (languages or not campaign.languages)
    tracks = not first.tracks or not second.tracks or set(first.tracks) & set(second.tracks)
    tasks = set(first.tasks) & set(second.tasks)
    if first.querysets != second.querysets:
        tasks &= stages.TASKS_WITHOUT_QUERIES
    return " and ".join(sorted(tasks)) if same and tracks else ""
