"""Reading a campaign's file: every problem at once, each with its line and cure; nothing is half accepted."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

from basanite.campaign.model.file import tables
from basanite.campaign.model.file.checks import check
from basanite.campaign.model.file.entries import RULE, CampaignEntries
from basanite.campaign.model.file.look_defaults import with_looks
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.time.zones import TimeError, zone_of
from basanite.errors import InvalidInputError
from basanite.formats.packs.toml_document import LARGEST, TomlReport, parse_toml
from basanite.formats.toml.lines import entry_lines
from basanite.problems import Findings

KEYS: Final = (
    "format", "slug", "title", "zone", "period", "languages", "sealed", "seed", "two_people", "plan_version",
    "invalid_per_day", "open_uploads", "largest_upload", "tracks", "packs", "querysets", "domains", "windows",
    "milestones", "agreements", "rules", "claims", "judging",
)  # fmt: skip
ACTS: Final = ("release", "reference", "void", "role")
SLUG: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
Value = TypeVar("Value")


def load(text: str) -> Campaign:
    """The campaign in a text; what is wrong with it is raised as one error with all problems."""
    campaign, findings = read_campaign(text)
    if campaign is None:
        raise InvalidInputError("campaign", findings)
    return campaign


def read_campaign(text: str, file: str = "campaign.toml") -> tuple[Campaign | None, Findings]:
    """The campaign in a text, if nothing is wrong with it, and everything that is."""
    findings = Findings(limit=None)
    report = TomlReport(file, RULE, findings)
    if len(text) > LARGEST:
        report.add("the file is larger than 4 MiB", "a campaign is a few pages of text: is it the right file?")
        return None, findings
    document = parse_toml(text, "campaign", report)
    if document is None:
        return None, findings
    top = CampaignEntries(document, (), file, entry_lines(text), findings)
    campaign = with_looks(_campaign(top), top)
    check(campaign, top)
    return (campaign if findings.valid else None), _each_once(findings)


def _each_once(findings: Findings) -> Findings:
    """What was found, each problem once: an entry may have been looked at from several sides."""
    once = Findings(limit=None)
    once.extend(sorted(dict.fromkeys(findings), key=lambda problem: problem.line or 0))
    return once


def _campaign(top: CampaignEntries) -> Campaign:
    top.known(KEYS)
    zone = _zone(top)
    slug = top.text("slug")
    if slug and not SLUG.fullmatch(slug):
        fix = "write small letters, digits and hyphens, at most 64"
        top.add(f"the slug {slug!r} cannot be part of an address", fix, key="slug", found=slug)
    return Campaign(
        slug=slug,
        title=top.text("title"),
        zone=zone,
        windows=_each(top, "windows", tables.window, zone),
        packs=_each(top, "packs", tables.pack, zone),
        period=top.text("period", "BASE"),
        plan_version=top.text("plan_version", "1"),
        languages=top.texts("languages"),
        querysets=_each(top, "querysets", tables.queryset, zone),
        domains=_each(top, "domains", tables.domains, zone),
        tracks=_each(top, "tracks", tables.track, zone),
        milestones=_each(top, "milestones", tables.milestone, zone),
        agreements=_each(top, "agreements", tables.agreement, zone),
        rules=_each(top, "rules", tables.rules, zone),
        claims=_each(top, "claims", tables.claim, zone),
        judging=dict(top.table("judging", needed=False).values),
        two_people=_two_people(top),
        invalid_per_day=top.whole("invalid_per_day", 50, 1, 10**6) or 50,
        open_uploads=top.whole("open_uploads", 2, 1, 1000) or 2,
        largest_upload=top.size("largest_upload", 8 * 2**30),
        seed=top.whole("seed", 0, 0) or 0,
        sealed=top.flag("sealed", True),
    )


def _zone(top: CampaignEntries) -> str:
    name = top.text("zone", "America/New_York")
    try:
        zone_of(name)
    except TimeError as error:
        fix = "write a name of the IANA list, UTC or AoE"
        top.add(f"the campaign's zone: {error}", fix, key="zone", found=name, rule="P-27")
        return "UTC"
    return name


def _each(top: CampaignEntries, key: str, read: Callable[[CampaignEntries], Value], zone: str) -> tuple[Value, ...]:
    """The tables of an array, whose times are in the campaign's zone unless they say otherwise."""
    entries = top.tables(key)
    return tuple(read(CampaignEntries(e.values, e.path, e.file, e.lines, e.findings, zone)) for e in entries)


def _two_people(top: CampaignEntries) -> frozenset[str]:
    acts = top.texts("two_people")
    for act in acts:
        if act not in ACTS:
            fix = f"write some of {', '.join(ACTS)}"
            top.add(f"no act is called {act!r}", fix, key="two_people", found=act, rule="X-4")
    return frozenset(acts)
