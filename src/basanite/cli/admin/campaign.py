"""`basanite admin campaign` and `rehearse`: campaign files, moved to new dates, added, or played as a season on paper.

A rehearsal lists what the plan lets teams learn about references (X-23).
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.commands import ActionGroup
from basanite.cli.admin.desk import refusals, show
from basanite.cli.options import PATH, as_json, example, schema_command
from basanite.formats.bounded import read_bounded
from basanite.reports.wording import moment, plural

if TYPE_CHECKING:
    from basanite.analysis.power import Enough
    from basanite.campaign.model.exposure import Exposure
    from basanite.campaign.model.plan import Campaign
    from basanite.campaign.model.prober import Recovery

LARGEST = 4 * 2**20
FILE = click.argument("file", type=PATH)
NO_BOUND = "values are not rounded, so nothing limits what they reveal about the sealed reference."
UNKNOWN = "The attack is simulated for CLIR with AQWV; for other tasks, only the bound is known."


@click.command(epilog=example('basanite admin rehearse campaign.toml --at "2018-01-01 00:00"'))
@FILE
@click.option(
    "--at", "start", default="", help="Start at this time, in the campaign's time zone. [default: the first event]"
)
@click.option("--teams", type=click.IntRange(1, 1000), default=3, show_default=True, help="Simulated teams.")
@click.option("--judges", type=click.IntRange(0, 10_000), help="Number of judges. [default: as in the file]")
@click.option(
    "--units",
    type=click.IntRange(1),
    help="Queries or items in a window, to report the smallest difference that they can show.",
)
@click.option(
    "--variance", type=float, help="With --units: variance of the difference of two systems on one unit. [default: 1]"
)
@click.option(
    "--reference", type=PATH, help="A sealed CLIR reference for the simulated attacker. [default: a synthetic one]"
)
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
    """Rehearse the campaign in FILE with simulated teams, and list what would have gone wrong.

    For windows that show values on sealed references, it estimates how much a team could learn by repeated
    submissions, and reports
    what a simulated attacker found. With --units, it also reports the difference between two teams that a leaderboard
    of that many units
    can show.
    """
    with refusals(json=as_json):
        from basanite.campaign.actions.calendar import warning_lines
        from basanite.campaign.model.campaign_file import load
        from basanite.campaign.model.rehearsal import Crew
        from basanite.campaign.model.rehearsal import rehearse as play
        from basanite.reports.power import power_sentences

        plan = load(text_of(file))
        played = play(plan, start=start_of(start, plan.zone, "--at"), crew=Crew(teams, judges))
        power = _power(teams, units, variance)
        exposed, lines = exposure_of(plan, reference)
    faults = [one.as_dict() for one in played.faults]
    words = [f"{len(played.steps)} steps simulated, {plural('problem', len(faults))} found."]
    words += [f"{one.message} [{one.rule}]. Fix: {one.fix}" for one in played.faults]
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
    from basanite.scoring import power_goal, stated_power

    alpha = 0.05 / max(teams * (teams - 1) // 2, 1)
    spread = Spread(1.0 if variance is None else variance)
    return None if units is None else stated_power(power_goal({"alpha": str(alpha)}), spread, units, {})


def start_of(text: str, zone: str, option: str) -> datetime | None:
    """The moment that an option names, in a zone; None if it names none."""
    from basanite.campaign.model.zones import TimeError, instant_of

    try:
        return instant_of(text, zone).utc if text else None
    except TimeError as error:
        raise click.BadParameter(str(error), param_hint=option) from None


def text_of(file: Path) -> str:
    """What a campaign's file says."""
    return read_bounded(file, LARGEST).decode("utf-8", "replace")


def exposure_of(campaign: Campaign, reference: Path | None) -> tuple[dict[str, Any], list[str]]:
    """The keys of the JSON answer, and the same in words."""
    from basanite.campaign.model.exposure import exposure_warnings
    from basanite.campaign.model.prober import recoveries

    found = recoveries(campaign, reference)
    warnings = [one.as_dict() for one in exposure_warnings(campaign)]
    shown = {"exposure": [_data(*one, made_up=reference is None) for one in found], "warnings": warnings}
    lines = [_words(*one, made_up=reference is None) for one in found]
    return shown, [*lines, UNKNOWN] if any(recovery is None for _, recovery in found) else lines


def _data(exposure: Exposure, recovery: Recovery | None, *, made_up: bool) -> dict[str, Any]:
    return {
        "window": exposure.window,
        "task": exposure.task,
        "attempts": exposure.attempts,
        "looks": exposure.plain,
        "ladder": exposure.ladder_tries,
        "values": exposure.values,
        "bits": round(exposure.bits) if math.isfinite(exposure.bits) else None,
        "recovered": None
        if recovery is None
        else {
            "submissions": recovery.submissions,
            "guesses": recovery.guesses,
            "hits": recovery.hits,
            "chance": round(recovery.chance, 1),
            "relevant": recovery.relevant,
            "labels": recovery.labels,
            "key_bits": round(recovery.key_bits),
            "made_up": made_up,
        },
    }


def _words(exposure: Exposure, recovery: Recovery | None, *, made_up: bool) -> str:
    most = (
        "some" if exposure.ladder_tries else "at most"
    )  # a move on the ladder shows a value, too, rounded to its step
    rounded = math.isfinite(exposure.bits)
    looks = plural("result", exposure.plain) + (f" of {plural('value', exposure.values)}" if rounded else " in full")
    ladder = f", and make {exposure.ladder_tries:,} tries on the ladder" if exposure.ladder_tries else ""
    bound = f"{most} {exposure.bits:,.0f} bits about the sealed reference." if rounded else NO_BOUND
    words = f"{exposure.window}, {exposure.task}: a team can see {looks}{ladder}: {bound}"
    if recovery is None:
        return words
    part = "" if recovery.submissions == exposure.attempts else f"the first {recovery.submissions:,} of "
    key = "a synthetic key" if made_up else "the key"
    return (
        f"{words} With {part}{plural('submission', exposure.attempts)} a simulated attacker found {recovery.hits:,} of"
        f" {plural('relevant document', recovery.relevant)} among {recovery.labels:,} labels of {key}"
        f" ({recovery.key_bits:,.0f} bits); as many random guesses find {recovery.chance:.1f}."
    )


HELP = "Write a campaign file, add a campaign from it, show it, change it, and see what is frozen."
PARTS = ("add", "show", "change", "freeze-status", "create", "publish", "edit", "insert", "remove")
campaign = ActionGroup("campaigns", "campaign", HELP, *PARTS)
campaign.add_command(schema_command("admin campaign"))


@campaign.command("new", epilog=example("basanite admin campaign new campaign.toml --out next-year.toml"))
@FILE
@click.option("--out", type=PATH, required=True, help="The file to write; must not exist yet.")
@click.option(
    "--start", default="", help='A time at which its first window is open, like "2018-01-15 00:00". [default: now]'
)
@as_json
def new(file: Path, out: Path, start: str, as_json: bool) -> None:
    """Write a campaign FILE from an example or a past year, with dates shifted so that its first window is open.

    All dates shift by the same number of weeks, so weekdays and times stay the same.
    """
    with refusals(json=as_json):
        from basanite.campaign.model.campaign_file import load, move_dates
        from basanite.campaign.model.refusals import refused

        text = text_of(file)
        begin = start_of(start, load(text).zone, "--start") or datetime.now(UTC)
        try:
            moved = move_dates(text, begin)
        except OverflowError as error:
            raise click.BadParameter(f"the dates cannot move there: {error}", param_hint="--start") from None
        plan = load(moved)
        try:
            with out.open("x", encoding="utf-8", newline="\n") as opened:
                opened.write(moved)
        except FileExistsError:
            raise refused("P-3", f"{out.name} already exists", "choose another name", status=409) from None
    opens = min(one.opens.utc for one in plan.windows)
    words = [f"{out}: its first window opens at {moment(opens)}. Next: basanite admin rehearse {out}"]
    show({"file": str(out), "slug": plan.slug, "opens": opens}, words, json=as_json)
