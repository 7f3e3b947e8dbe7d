"""The commands of `basanite measure`: files in, a report out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from basanite import registry
from basanite.cli.dask_option import dask_or_cluster_option, on
from basanite.cli.options import (
    PATH,
    Command,
    as_json,
    check_reports,
    example,
    guarded,
    parsed_settings,
    settings_option,
    show_report,
    write_reports,
)
from basanite.cli.progress import Counted
from basanite.cli.scoring.compare import split_name
from basanite.errors import SettingError
from basanite.interface import MOST_DRAWS
from basanite.metrics.representation.backends import Backend
from basanite.reports.model import Report
from basanite.representation.catalogue import PRIMARY
from basanite.representation.comparing.report import sets_report
from basanite.representation.comparing.sets import compare_sets, read_proxy
from basanite.representation.data import Data, data_name, read_data
from basanite.representation.measuring.report import run_report
from basanite.representation.measuring.run import WORST, Plan
from basanite.representation.measuring.run import run as measure_run
from basanite.representation.measuring.settings import choices
from basanite.representation.monitoring import run as monitoring
from basanite.representation.monitoring.actions import USUAL, actions_of
from basanite.representation.monitoring.report import monitor_report
from basanite.representation.shift.experiment import DRAWS, REPEATS, STEPS, ShiftPlan
from basanite.representation.shift.report import shift_report
from basanite.representation.shift.run import shift as shift_experiment

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from basanite.clusters.address import Cluster

METRIC = "Only these measures (and the primary one). Repeat it."
primary_option = click.option(
    "--primary",
    default=PRIMARY,
    show_default=True,
    metavar="NAME",
    help="The measure that is the headline and is drawn.",
)
PARTS = {"otce": ("otce_wd", "otce_wt")}
"""Measures that are known by one name and have two values."""


def named_measures(_context: click.Context, _option: click.Parameter, names: Sequence[str]) -> tuple[str, ...]:
    """The names of what is measured, where one name may stand for its parts."""
    return tuple(dict.fromkeys(part for name in names for part in PARTS.get(name, (name,))))


def common(draws: int, words: str) -> Callable[[Command], Command]:
    """Add what every command of the group takes."""

    def add(command: Command) -> Command:
        for option in (
            click.option(
                "--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .csv .json …"
            ),
            click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything drawn."),
            click.option("--draws", type=click.IntRange(0, MOST_DRAWS), default=draws, show_default=True, help=words),
            click.option("--metric", "metrics", multiple=True, callback=named_measures, help=METRIC),
        ):
            command = option(command)
        return dask_or_cluster_option(settings_option(as_json(command)))

    return add


@click.command(epilog=example("basanite measure run seen.npz --metadata pens.csv --report seen.html"))
@click.argument("features", type=PATH)
@click.option("--labels", type=PATH, help="Labels in a file of their own: .npy, or .npz with `labels`.")
@click.option("--metadata", type=PATH, multiple=True, help="A table `row,FACTOR…` of groups of rows. Repeat it.")
@click.option("--backend", default="numpy", show_default=True, help="Where the work is done: numpy, or torch.")
@click.option(
    "--projection", type=click.Choice(("tsne", "pca", "none")), help="The picture in reports. [default: tsne]"
)
@click.option("--worst", type=click.IntRange(0, 1000), default=WORST, show_default=True, help="Worst rows to list.")
@primary_option
@common(1000, "Draws of the bootstrap; 0 for no intervals.")
def run(
    features: Path,
    labels: Path | None,
    metadata: tuple[Path, ...],
    backend: str,
    projection: Literal["tsne", "pca", "none"] | None,
    worst: int,
    primary: str,
    metrics: tuple[str, ...],
    draws: int,
    seed: int,
    reports: tuple[Path, ...],
    settings: tuple[str, ...],
    dask: Cluster | None,
    as_json: bool,
) -> None:
    """Measure FEATURES, a file of features and labels: every measure, by class and by group, with intervals."""
    check_reports(reports, (features, *metadata))
    method = None if projection == "none" or (projection is None and not reports) else projection or "tsne"
    shown = {"worst": worst, "projection": method, "primary": primary}
    plan = Plan.of(parsed_settings(settings), names=metrics, draws=draws, seed=seed, **shown)
    with on(dask) as executor:
        engine = backend_of(backend, executor)
        found = guarded(
            lambda: measure_run(
                read_data(features, labels=labels, metadata=metadata), plan, backend=engine, executor=executor
            ),
            json=as_json,
        )
    finish(run_report(found), reports, json=as_json)


@click.command(epilog=example("basanite measure shift seen.npz unseen.npz --metric ferm1 --draws 20 --repeats 3"))
@click.argument("source", type=PATH)
@click.argument("target", type=PATH)
@click.option("--source-classes", type=click.IntRange(2), help="So many source classes, drawn once. [default: all]")
@click.option("--target-classes", type=click.IntRange(2), help="So many target classes, drawn once. [default: all]")
@click.option("--rows", type=click.IntRange(2), help="The most rows of a class. [default: all of the smallest class]")
@click.option("--levels", type=click.IntRange(2, 1000), default=STEPS, show_default=True, help="Levels each way.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=REPEATS, show_default=True, help="Repeats a level.")
@common(DRAWS, "Draws of classes and rows, for intervals.")
def shift(
    source: Path,
    target: Path,
    source_classes: int | None,
    target_classes: int | None,
    rows: int | None,
    levels: int,
    repeats: int,
    metrics: tuple[str, ...],
    draws: int,
    seed: int,
    reports: tuple[Path, ...],
    settings: tuple[str, ...],
    dask: Cluster | None,
    as_json: bool,
) -> None:
    """Mix TARGET into SOURCE level by level, as the FERM paper does, and see which measures follow."""
    check_reports(reports, (source, target))
    chosen = choices(parsed_settings(settings), seed=seed)
    plan = ShiftPlan(
        metrics, chosen.options, source_classes, target_classes, rows, levels, repeats, draws, seed, chosen.level
    )
    progress = Counted()
    with on(dask) as executor:
        found = guarded(
            lambda: shift_experiment(read_data(source), read_data(target), plan, progress=progress, executor=executor),
            json=as_json,
        )
    progress.close()
    finish(shift_report(found), reports, json=as_json)


@click.command(epilog=example("basanite measure compare seen.npz turned.npz unseen.npz --draws 100"))
@click.argument("sets", nargs=-1, required=True, metavar="[NAME=]FEATURES...")
@click.option(
    "--transformed",
    multiple=True,
    metavar="NAME=FEATURES",
    help="The same set with inputs transformed at random; once for each repeat.",
)
@click.option("--proxy", type=PATH, help="A table `name,number`: how well each set is known to do.")
@primary_option
@common(1000, "Draws of the bootstrap; 0 for no intervals.")
def compare(
    sets: tuple[str, ...],
    transformed: tuple[str, ...],
    proxy: Path | None,
    primary: str,
    metrics: tuple[str, ...],
    draws: int,
    seed: int,
    reports: tuple[Path, ...],
    settings: tuple[str, ...],
    dask: Cluster | None,
    as_json: bool,
) -> None:
    """Compare several FEATURES files, data sets or models, and hold their order against a proxy."""
    plan = Plan.of(parsed_settings(settings), names=metrics, draws=draws, seed=seed, projection=None, primary=primary)
    named, repeats = named_sets(sets), named_repeats(transformed)
    check_reports(reports, (*named.values(), *(path for paths in repeats.values() for path in paths)))
    known = read_proxy(proxy) if proxy else {}
    with on(dask) as executor:
        found = guarded(
            lambda: compare_sets(
                {name: renamed(read_data(path), name) for name, path in named.items()},
                plan,
                transformed={name: [read_data(path) for path in paths] for name, paths in repeats.items()},
                proxy=known,
                executor=executor,
            ),
            json=as_json,
        )
    finish(sets_report(found), reports, json=as_json)


@click.command(
    epilog=example(
        "basanite measure monitor seen.npz monday.npz tuesday.npz --target unseen.npz --metric ferm1 --draws 50"
    )
)
@click.argument("reference", type=PATH)
@click.argument("batches", nargs=-1, required=True, metavar="[NAME=]BATCH...")
@click.option("--target", type=PATH, help="A sample of the new domain, to estimate what share of a batch is new.")
@click.option("--bands", default=USUAL, show_default=True, help="What to do from which share of new data on.")
@click.option("--by", default="ferm1", show_default=True, help="The measure that tells the share.")
@click.option(
    "--false-alarms", type=float, default=monitoring.FALSE_ALARMS, show_default=True, help="Rate for a batch."
)
@click.option("--mix-draws", type=click.IntRange(10), default=monitoring.MIX_DRAWS, show_default=True, help="A share.")
@click.option("--predicted", is_flag=True, help="Take predictions for labels, in reference, target and batches.")
@common(monitoring.DRAWS, "Draws for the bands.")
def monitor(
    reference: Path,
    batches: tuple[str, ...],
    target: Path | None,
    bands: str,
    by: str,
    false_alarms: float,
    mix_draws: int,
    predicted: bool,
    metrics: tuple[str, ...],
    draws: int,
    seed: int,
    reports: tuple[Path, ...],
    settings: tuple[str, ...],
    dask: Cluster | None,
    as_json: bool,
) -> None:
    """Hold each BATCH against bands made from REFERENCE: alarms, the share of new data, and what to do."""
    named = named_sets(batches)
    check_reports(reports, (reference, *named.values()))
    if draws < 20:
        raise SettingError(f"A band needs at least 20 draws, not {draws}.")
    chosen = choices(parsed_settings(settings), seed=seed)
    plan = monitoring.MonitorPlan(
        metrics or monitoring.WATCHED,
        by,
        chosen.options,
        actions_of(bands),
        false_alarms,
        draws,
        mix_draws,
        seed,
        chosen.level,
    )
    progress = Counted()
    with on(dask) as executor:
        found = guarded(
            lambda: monitoring.monitor(
                read_data(reference, predicted=predicted),
                [renamed(read_data(path, predicted=predicted), name) for name, path in named.items()],
                plan,
                target=None if target is None else read_data(target, predicted=predicted),
                progress=progress,
                executor=executor,
            ),
            json=as_json,
        )
    progress.close()
    finish(monitor_report(found), reports, json=as_json)


def finish(report: Report, reports: Sequence[Path], *, json: bool) -> None:
    """Write what was asked for, then show the result."""
    write_reports(report, reports)
    show_report(report, json=json)


def backend_of(name: str, executor: Executor | None = None) -> Backend:
    """The backend of this name, on the device it chooses itself; NumPy's gives parts to an executor."""
    given = {"executor": executor} if name == "numpy" else {}
    made: Backend = registry.load("backends", name)(**given)
    return made


def renamed(data: Data, name: str) -> Data:
    """The same set under the name that the user gave it."""
    return replace(data, name=name)


def named_sets(texts: Sequence[str]) -> dict[str, Path]:
    """Sets by name, from `NAME=PATH` or `PATH`."""
    found: dict[str, Path] = {}
    for text in texts:
        name, path = _named(text)
        if name in found:
            raise SettingError(f"Two sets are called {name!r}. Give them names: NAME=PATH.")
        found[name] = path
    return found


def named_repeats(texts: Sequence[str]) -> dict[str, list[Path]]:
    """The transformed repeats of each set."""
    found: dict[str, list[Path]] = {}
    for text in texts:
        name, sign, path = text.partition("=")
        if not sign or not name:
            raise SettingError(f"--transformed {text!r} cannot be read: write --transformed NAME=FILE.")
        found.setdefault(name, []).append(Path(path))
    return found


def _named(text: str) -> tuple[str, Path]:
    name, path = split_name(text)
    return (data_name(path), path) if str(path) == text else (name, path)
