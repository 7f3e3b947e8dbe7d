"""`basanite admin campaign|window|milestone|rehearse`: the plan of a season, from its file to its last extension."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.desk import (
    admin_options,
    at_desk,
    campaign_option,
    moment,
    reason_option,
    refusals,
    show,
    table,
    the_campaign,
)
from basanite.cli.options import PATH, as_json, example
from basanite.formats.bounded import read_bounded

if TYPE_CHECKING:
    from basanite.analysis.power import Enough
    from basanite.campaign.organising.plans import Plan

LARGEST = 4 * 2**20
FILE = click.argument("file", type=PATH)


@click.group(epilog=example("basanite admin campaign show --data season"))
def campaign() -> None:
    """Write a campaign file, add a campaign from it, show it, change it, and see what is frozen."""


@campaign.command("new", epilog=example("basanite admin campaign new campaign.toml --out next-year.toml"))
@FILE
@click.option("--out", type=PATH, required=True, help="The file to write; one that is there is not overwritten.")
@click.option("--start", default="", help='When its first window has opened, like "2018-01-15 00:00". [default: now]')
@as_json
def new(file: Path, out: Path, start: str, as_json: bool) -> None:
    """Write an example's or last year's campaign FILE with its dates moved, so that its first window is open.

    All dates move by the same number of weeks, so weekdays and clock times stay the same.
    """
    with refusals(json=as_json):
        from basanite.campaign.model.reading import load
        from basanite.campaign.model.refusals import refused
        from basanite.campaign.model.time.shift import move_dates

        text = _text(file)
        begin = _start(start, load(text).zone, "--start") or datetime.now(UTC)
        try:
            moved = move_dates(text, begin)
        except OverflowError as error:
            raise click.BadParameter(f"the dates cannot move there: {error}", param_hint="--start") from None
        plan = load(moved)
        try:
            with out.open("x", encoding="utf-8", newline="\n") as opened:
                opened.write(moved)
        except FileExistsError:
            raise refused("P-3", f"{out.name} is there already", "choose another name", status=409) from None
    opens = min(one.opens.utc for one in plan.windows)
    words = [f"{out}: its first window opens at {moment(opens)}. Next: basanite admin rehearse {out}"]
    show({"file": str(out), "slug": plan.slug, "opens": opens}, words, json=as_json)


@campaign.command("add", epilog=example("basanite admin campaign add campaign.toml --data new-season"))
@FILE
@admin_options
def add(file: Path, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Begin a campaign from its FILE; all problems of the file are listed, each with its line."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.model.exposure import unprotected
        from basanite.campaign.organising import plans
        from basanite.cli.admin.season.exposure import warning_lines
        from basanite.reports.wording import plural

        row = plans.add_campaign(desk.session, desk.office, desk.actor, _text(file))
        plan = desk.plan(row.id)
        shown = _summary(plan) | {"warnings": [one.as_dict() for one in unprotected(plan.campaign)]}
        windows = plural("window", len(shown["windows"]))
        warnings = warning_lines(plan.campaign)
    words = [f"Campaign {shown['slug']}: {windows}. Next: basanite admin people add", *warnings]
    show(shown, words, json=as_json)


@campaign.command("show", epilog=example("basanite admin campaign show --data season"))
@campaign_option
@admin_options
def show_campaign(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Show a campaign as it stands: version, windows, what is frozen, what departed from it."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import plans

        plan = the_campaign(desk, campaign)
        found = plans.deviations(desk.session, plan.row.id)
        shown = _summary(plan) | {"deviations": [_deviation(one) for one in found]}
    head = f"{plan.campaign.title} ({plan.campaign.slug}), version {plan.version} of its file"
    show(shown, [head, *_windows_table(shown["windows"]), f"Deviations: {len(found)}"], json=as_json)


@campaign.command(
    "change", epilog=example("basanite admin campaign change campaign.toml --data season --reason clearer")
)
@FILE
@reason_option
@admin_options
def change(file: Path, reason: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Take a new version of a campaign's FILE; what touches an open window is a deviation, with its reason."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.model.exposure import unprotected
        from basanite.campaign.model.reading import load
        from basanite.campaign.organising import plans
        from basanite.cli.admin.season.exposure import warning_lines

        text = _text(file)
        slug = load(text).slug
        plan = plans.change(desk.session, desk.office, desk.actor, slug, text, reason=reason)
        found = [one for one in plans.deviations(desk.session, plan.row.id) if one.to_version == plan.version]
        shown = {"slug": slug, "version": plan.version, "deviations": [_deviation(one) for one in found]}
        shown["warnings"] = [one.as_dict() for one in unprotected(plan.campaign)]
        warnings = warning_lines(plan.campaign)
    words = [f"{slug} is at version {plan.version}."]
    words += [f"Deviation in {one.window}: {item['what']}" for one in found for item in one.changes]
    words += warnings
    show(shown, words, json=as_json)


@campaign.command("freeze-status", epilog=example("basanite admin campaign freeze-status --data season"))
@campaign_option
@admin_options
def freeze_status(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Freeze the plans of windows that have opened, and list what is frozen under which hash."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import plans

        plan = the_campaign(desk, campaign)
        plans.freeze_opened(desk.session, desk.office, plan.row.id)
        rows = [
            {"window": one.window, "plan_version": one.plan_version, "digest": one.digest, "at": one.at}
            for one in plans.freezes(desk.session, plan.row.id)
        ]
    lines = table(rows, ["window", "plan_version", "at", "digest"], empty="No window has opened yet.")
    show({"frozen": rows}, lines, json=as_json)


@click.group(epilog=example("basanite admin window list --data season"))
def window() -> None:
    """List the windows of a campaign, and extend one with a reason."""


@window.command("list", epilog=example("basanite admin window list --data season"))
@campaign_option
@admin_options
def list_windows(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List the windows: when they open and close, for what, and what they show."""
    with at_desk(data, mail, json=as_json) as desk:
        shown = _summary(the_campaign(desk, campaign))
    show({"windows": shown["windows"]}, _windows_table(shown["windows"]), json=as_json)


@window.command(
    "extend",
    epilog=example('basanite admin window extend week --to "2018-04-10 24:00 AoE" --reason "a storm" --data season'),
)
@click.argument("name")
@click.option("--to", "closes", required=True, help='The new end, like "2018-05-18 24:00", with a zone if need be.')
@reason_option
@campaign_option
@admin_options
def extend(
    name: str, closes: str, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Let the window NAME close later; it is logged, and everybody in a team gets a mail with the reason."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import plans

        slug = the_campaign(desk, campaign).row.slug
        plan = plans.extend_window(desk.session, desk.office, desk.actor, slug, name, closes, reason=reason)
        ends = plan.campaign.window(name).closes.utc
    show({"window": name, "closes": ends, "version": plan.version}, [f"{name} closes at {moment(ends)}."], json=as_json)


@click.group(epilog=example("basanite admin milestone list --data season"))
def milestone() -> None:
    """List milestones with owner and state, and set a state."""


@milestone.command("list", epilog=example("basanite admin milestone list --data season"))
@campaign_option
@admin_options
def list_milestones(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List the milestones of a campaign in the order of time."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import milestones

        found = milestones.milestones(desk.session, the_campaign(desk, campaign).row.id)
    rows = [
        {
            "id": one.milestone.id,
            "at": one.milestone.at.utc,
            "title": one.milestone.title,
            "owner": one.milestone.owner,
            "state": one.state,
            "note": one.note,
        }
        for one in found
    ]
    lines = table(rows, ["id", "at", "title", "owner", "state", "note"], empty="The plan has no milestones.")
    show({"milestones": rows}, lines, json=as_json)


@milestone.command("set", epilog=example("basanite admin milestone set kickoff done --data season"))
@click.argument("name")
@click.argument("state", type=click.Choice(["planned", "done", "moved", "dropped"]))
@click.option("--note", default="", help="What to know about it.")
@campaign_option
@admin_options
def set_milestone(
    name: str, state: str, note: str, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Say where the milestone NAME stands; what was said before stays in the log."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import milestones

        campaign_id = the_campaign(desk, campaign).row.id
        milestones.set_state(desk.session, desk.office, desk.actor, campaign_id, name, state, note)
    show({"milestone": name, "state": state, "note": note}, [f"{name}: {state}"], json=as_json)


@click.command(epilog=example('basanite admin rehearse campaign.toml --at "2018-01-01 00:00"'))
@FILE
@click.option("--at", "start", default="", help="Begin at this moment, in the campaign's zone. [default: the first]")
@click.option("--teams", type=click.IntRange(1, 1000), default=3, show_default=True, help="Simulated teams.")
@click.option("--judges", type=click.IntRange(0, 10_000), help="Judges at hand. [default: as the file says]")
@click.option("--units", type=click.IntRange(1), help="Queries or items a window has: what difference can they show?")
@click.option("--variance", type=float, help="With --units: of the difference of two systems on one unit. [default: 1]")
@click.option("--reference", type=PATH, help="A sealed key of CLIR for the simulated prober. [default: a made-up one]")
@as_json
def rehearse(
    file: Path,
    start: str,
    teams: int,
    judges: int | None,
    units: int | None,
    variance: float | None,
    reference: Path | None,
    as_json: bool,
) -> None:
    """Play the season of a campaign's FILE with simulated teams, and list what would have gone wrong.

    For windows that show values on sealed references it says what a team could learn about them by trying, and what a
    simulated prober found. With --units it also says what difference between two teams a board of that many units can
    show.
    """
    with refusals(json=as_json):
        from basanite.campaign.model.reading import load
        from basanite.campaign.model.rehearsal.faults import Crew
        from basanite.campaign.model.rehearsal.faults import rehearse as play
        from basanite.cli.admin.season.exposure import exposure_of, warning_lines
        from basanite.reports.kinds.power import power_sentences

        plan = load(_text(file))
        played = play(plan, start=_start(start, plan.zone, "--at"), crew=Crew(teams, judges))
        power = _power(teams, units, variance)
        exposed, lines = exposure_of(plan, reference)
    faults = [one.as_dict() for one in played.faults]
    words = [f"{len(played.steps)} steps were played; {len(faults)} things would have gone wrong."]
    words += [f"{one.message} ({one.rule}). To do: {one.fix}" for one in played.faults]
    words += [*lines, *warning_lines(plan)]
    shown = {"slug": plan.slug, "steps": len(played.steps), "faults": faults, **exposed}
    if power is not None:
        words += [
            *power_sentences(power),
            *([] if variance else ["Without --variance, in standard deviations of a unit."]),
        ]
        shown["power"] = {"units": units, "alpha": power.goal.alpha, "detectable": power.detectable}
    show(shown, words, json=as_json)
    if faults:
        raise click.exceptions.Exit(1)


def _power(teams: int, units: int | None, variance: float | None) -> Enough | None:
    """What a board of this number of units can show when every two of the teams are compared (S-30)."""
    from basanite.analysis.power import Spread
    from basanite.interface import power_goal, stated_power

    alpha = 0.05 / max(teams * (teams - 1) // 2, 1)
    spread = Spread(1.0 if variance is None else variance)
    return None if units is None else stated_power(power_goal({"alpha": str(alpha)}), spread, units, {})


def _start(text: str, zone: str, option: str) -> datetime | None:
    from basanite.campaign.model.time.zones import TimeError, instant_of

    try:
        return instant_of(text, zone).utc if text else None
    except TimeError as error:
        raise click.BadParameter(str(error), param_hint=option) from None


def _text(file: Path) -> str:
    return read_bounded(file, LARGEST).decode("utf-8", "replace")


def _summary(plan: Plan) -> dict[str, Any]:
    return {
        "slug": plan.campaign.slug,
        "title": plan.campaign.title,
        "version": plan.version,
        "zone": plan.campaign.zone,
        "two_people": sorted(plan.campaign.two_people),
        "windows": [
            {
                "id": one.id,
                "title": one.title,
                "opens": one.opens.utc,
                "closes": one.closes.utc,
                "tasks": list(one.tasks),
                "dataset": "+".join(one.dataset),
                "feedback": one.feedback,
                "kind": one.kind,
            }
            for one in plan.campaign.windows
        ],
    }


def _windows_table(rows: list[dict[str, Any]]) -> list[str]:
    return table(rows, ["id", "opens", "closes", "tasks", "dataset", "feedback", "kind"], empty="There are no windows.")


def _deviation(row: Any) -> dict[str, Any]:
    return {
        "window": row.window,
        "version": row.to_version,
        "changes": row.changes,
        "by": row.by,
        "reason": row.reason,
        "results_known": row.results_known,
        "at": row.at,
    }


__all__ = ["campaign", "milestone", "rehearse", "window"]
