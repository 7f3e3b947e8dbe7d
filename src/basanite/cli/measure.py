"""The commands of `basanite measure`: files in, a report out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from basanite import registry
from basanite.cli.options import (
    PATH,
    Command,
    as_json,
    check_reports,
    dask_or_cluster_option,
    example,
    gather_options,
    on,
    parsed_settings,
    run_or_exit,
    settings_option,
    show_report,
    write_reports,
)
from basanite.cli.positions import split_name
from basanite.cli.terminal import Counted
from basanite.errors import SettingError
from basanite.reports.report import Report
from basanite.representation import monitor as monitoring
from basanite.representation.backends.blas import Backend
from basanite.representation.catalogue import PRIMARY
from basanite.representation.comparison import compare_sets, read_proxy, sets_report
from basanite.representation.data import Data, data_name, read_data
from basanite.representation.measurement import WORST, Plan
from basanite.representation.measurement import run as measure_run
from basanite.representation.monitor import USUAL, actions_of
from basanite.representation.monitor_report import monitor_report
from basanite.representation.report import run_report
from basanite.representation.settings import choices
from basanite.representation.shift import DRAWS, REPEATS, STEPS, ShiftPlan
from basanite.representation.shift_curves import shift as shift_experiment
from basanite.representation.shift_report import shift_report
from basanite.tasks.settings import MOST_DRAWS

if TYPE_CHECKING:
    from basanite.clusters.address import Cluster

METRIC = "Only these measures (and the primary one). Can be repeated."
primary_option = click.option(
    "--primary",
    default=PRIMARY,
    show_default=True,
    metavar="NAME",
    help="The primary measure, used for headlines and charts.",
)
PARTS = {"otce": ("otce_wd", "otce_wt")}
"""Measures that are known by one name and have two values."""


def named_measures(_context: click.Context, _option: click.Parameter, names: Sequence[str]) -> tuple[str, ...]:
    """The names of what is measured, where one name may stand for its parts."""
    return tuple(dict.fromkeys(part for name in names for part in PARTS.get(name, (name,))))


@dataclass(frozen=True)
class MeasureOptions:
    """What every command of the group takes."""

    metrics: tuple[str, ...]
    draws: int
    seed: int
    reports: tuple[Path, ...]
    settings: tuple[str, ...]
    dask: Cluster | None
    as_json: bool


def common(draws: int, words: str) -> Callable[[Command], Command]:
    """Add what every command of the group takes; the command gets it as one argument `how`."""

    def add(command: Command) -> Command:
        command = gather_options(MeasureOptions, "how")(command)
        for option in (
            click.option(
                "--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .csv .json …"
            ),
            click.option("--seed", type=int, default=0, show_default=True, help="Random seed."),
            click.option(
                "--draws",
                "--resamples",
                type=click.IntRange(0, MOST_DRAWS),
                default=draws,
                show_default=True,
                help=words,
            ),
            click.option("--metric", "metrics", multiple=True, callback=named_measures, help=METRIC),
        ):
            command = option(command)
        return dask_or_cluster_option(settings_option(as_json(command)))

    return add


@click.command(epilog=example("basanite measure run seen.npz --metadata pens.csv --report seen.html"))
@click.argument("features", type=PATH)
@click.option("--labels", type=PATH, help="Labels in a separate file: .npy, or .npz with `labels`.")
@click.option("--metadata", type=PATH, multiple=True, help="A table `row,FACTOR…` of groups of rows. Can be repeated.")
@click.option("--backend", default="numpy", show_default=True, help="Compute backend: numpy or torch.")
@click.option(
    "--projection", type=click.Choice(("tsne", "pca", "none")), help="The projection shown in reports. [default: tsne]"
)
@click.option(
    "--worst", type=click.IntRange(0, 1000), default=WORST, show_default=True, help="Number of worst rows to list."
)
@primary_option
@common(1000, "Number of bootstrap resamples; 0 for no intervals.")
def run(
    features: Path,
    labels: Path | None,
    metadata: tuple[Path, ...],
    backend: str,
    projection: Literal["tsne", "pca", "none"] | None,
    worst: int,
    primary: str,
    how: MeasureOptions,
) -> None:
    """Measure FEATURES, a file of features and labels, by class and by group, with confidence intervals."""
    check_reports(how.reports, (features, *metadata))
    method = None if projection == "none" or (projection is None and not how.reports) else projection or "tsne"
    shown = {"worst": worst, "projection": method, "primary": primary}
    plan = Plan.of(parsed_settings(how.settings), names=how.metrics, draws=how.draws, seed=how.seed, **shown)
    with on(how.dask) as executor:
        # NumPy's backend gives parts to an executor; others choose their device themselves.
        engine: Backend = registry.load("backends", backend)(**({"executor": executor} if backend == "numpy" else {}))
        found = run_or_exit(
            lambda: measure_run(
                read_data(features, labels=labels, metadata=metadata), plan, backend=engine, executor=executor
            ),
            json=how.as_json,
        )
    finish(run_report(found), how.reports, json=how.as_json)


@click.command(epilog=example("basanite measure shift seen.npz unseen.npz --metric ferm1 --draws 20 --repeats 3"))
@click.argument("source", type=PATH)
@click.argument("target", type=PATH)
@click.option("--source-classes", type=click.IntRange(2), help="Number of source classes, drawn once. [default: all]")
@click.option("--target-classes", type=click.IntRange(2), help="Number of target classes, drawn once. [default: all]")
@click.option(
    "--rows", type=click.IntRange(2), help="Maximum number of rows per class. [default: all of the smallest class]"
)
@click.option(
    "--levels",
    type=click.IntRange(2, 1000),
    default=STEPS,
    show_default=True,
    help="Number of levels in each direction.",
)
@click.option("--repeats", type=click.IntRange(1, 1000), default=REPEATS, show_default=True, help="Repeats per level.")
@common(DRAWS, "Number of resamples of classes and rows, for intervals.")
def shift(
    source: Path,
    target: Path,
    source_classes: int | None,
    target_classes: int | None,
    rows: int | None,
    levels: int,
    repeats: int,
    how: MeasureOptions,
) -> None:
    """Mix TARGET into SOURCE step by step, as in the FERM paper, and see which measures respond."""
    check_reports(how.reports, (source, target))
    chosen = choices(parsed_settings(how.settings), seed=how.seed)
    plan = ShiftPlan(
        how.metrics,
        chosen.options,
        source_classes,
        target_classes,
        rows,
        levels,
        repeats,
        how.draws,
        how.seed,
        chosen.level,
    )
    progress = Counted()
    with on(how.dask) as executor:
        found = run_or_exit(
            lambda: shift_experiment(read_data(source), read_data(target), plan, progress=progress, executor=executor),
            json=how.as_json,
        )
    progress.close()
    finish(shift_report(found), how.reports, json=how.as_json)


@click.command(epilog=example("basanite measure compare seen.npz turned.npz unseen.npz --draws 100"))
@click.argument("sets", nargs=-1, required=True, metavar="[NAME=]FEATURES...")
@click.option(
    "--transformed",
    multiple=True,
    metavar="NAME=FEATURES",
    help="The same set with randomly transformed inputs; once for each repeat.",
)
@click.option("--proxy", type=PATH, help="A table `name,number` with the known performance of each set.")
@click.option("--source", type=PATH, help="Features and labels of the source task, for OTCE of every set.")
@click.option(
    "--along",
    type=click.Choice(("layer", "epoch")),
    help="The sets are layers of one model, or times of its training, in order: draw every measure over them.",
)
@primary_option
@common(1000, "Number of bootstrap resamples; 0 for no intervals.")
def compare(
    sets: tuple[str, ...],
    transformed: tuple[str, ...],
    proxy: Path | None,
    source: Path | None,
    along: str | None,
    primary: str,
    how: MeasureOptions,
) -> None:
    """Compare several FEATURES files (datasets or models), and compare their ranking with a proxy metric."""
    plan = Plan.of(
        parsed_settings(how.settings),
        names=how.metrics,
        draws=how.draws,
        seed=how.seed,
        projection=None,
        primary=primary,
    )
    named, repeats = named_sets(sets), named_repeats(transformed)
    check_reports(how.reports, (*named.values(), *(path for paths in repeats.values() for path in paths)))
    known = read_proxy(proxy) if proxy else {}
    with on(how.dask) as executor:
        found = run_or_exit(
            lambda: compare_sets(
                {name: with_source(with_name(read_data(path), name), source) for name, path in named.items()},
                plan,
                transformed={
                    name: [with_source(read_data(path), source) for path in paths] for name, paths in repeats.items()
                },
                proxy=known,
                along=along or "",
                executor=executor,
            ),
            json=how.as_json,
        )
    finish(sets_report(found), how.reports, json=how.as_json)


@click.command(
    epilog=example(
        "basanite measure monitor seen.npz monday.npz tuesday.npz --target unseen.npz --metric ferm1 --draws 50"
    )
)
@click.argument("reference", type=PATH)
@click.argument("batches", nargs=-1, required=True, metavar="[NAME=]BATCH...")
@click.option("--target", type=PATH, help="A sample of the new domain, to estimate what share of a batch is new.")
@click.option("--bands", default=USUAL, show_default=True, help="The action from each share of new data on.")
@click.option("--by", default="ferm1", show_default=True, help="The measure that estimates the share.")
@click.option(
    "--false-alarms", type=float, default=monitoring.FALSE_ALARMS, show_default=True, help="False-alarm rate per batch."
)
@click.option("--mix-draws", type=click.IntRange(10), default=monitoring.MIX_DRAWS, show_default=True, help="A share.")
@click.option("--predicted", is_flag=True, help="Use predictions as labels, in reference, target and batches.")
@common(monitoring.DRAWS, "Number of resamples for the bands.")
def monitor(
    reference: Path,
    batches: tuple[str, ...],
    target: Path | None,
    bands: str,
    by: str,
    false_alarms: float,
    mix_draws: int,
    predicted: bool,
    how: MeasureOptions,
) -> None:
    """Compare each BATCH with bands derived from REFERENCE: alarms, the share of new data, recommended action."""
    named = named_sets(batches)
    check_reports(how.reports, (reference, *named.values()))
    if how.draws < 20:
        raise SettingError(f"A band needs at least 20 draws, not {how.draws}.")
    chosen = choices(parsed_settings(how.settings), seed=how.seed)
    plan = monitoring.MonitorPlan(
        how.metrics or monitoring.WATCHED,
        by,
        chosen.options,
        actions_of(bands),
        false_alarms,
        how.draws,
        mix_draws,
        how.seed,
        chosen.level,
    )
    progress = Counted()
    with on(how.dask) as executor:
        found = run_or_exit(
            lambda: monitoring.monitor(
                read_data(reference, predicted=predicted),
                [with_name(read_data(path, predicted=predicted), name) for name, path in named.items()],
                plan,
                target=None if target is None else read_data(target, predicted=predicted),
                progress=progress,
                executor=executor,
            ),
            json=how.as_json,
        )
    progress.close()
    finish(monitor_report(found), how.reports, json=how.as_json)


def finish(report: Report, reports: Sequence[Path], *, json: bool) -> None:
    """Write what was asked for, then show the result."""
    write_reports(report, reports)
    show_report(report, json=json)


def with_name(data: Data, name: str) -> Data:
    """The same set under the name that the user gave it."""
    return replace(data, name=name)


def with_source(data: Data, source: Path | None) -> Data:
    """The same set with the rows of the source task that a file holds."""
    if source is None:
        return data
    rows = read_data(source)
    if rows.dimensions != data.dimensions:
        raise SettingError(
            f"{source.name} has {rows.dimensions} features a row and {data.name} {data.dimensions}. "
            "Fix: take the source from the same layer."
        )
    return replace(data, source=replace(data.source, features=rows.features, labels=rows.classes))


def named_sets(texts: Sequence[str]) -> dict[str, Path]:
    """Sets by name, from `NAME=PATH` or `PATH`."""
    found: dict[str, Path] = {}
    for text in texts:
        name, path = split_name(text)
        name = data_name(path) if str(path) == text else name
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
