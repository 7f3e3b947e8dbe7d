"""What was evaluated, as figures: claims, conditions, data, modules, metrics, protocol, logistics and the appendix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from basanite.figures import Cell, Figure, Table, Text
from basanite.harness.analysis.model import HarnessAnalysis
from basanite.harness.conditions import CONDITIONS
from basanite.harness.reporting.diagram import conditions_picture
from basanite.harness.reporting.states import ReportState
from basanite.harness.results import ResultFolder
from basanite.reports.model import Section, facts_table, filled
from basanite.reports.wording import plural

WHAT = {
    1: "Features made by hand, given to the strong shallow classifier.",
    2: "The same features, given to each team's simple linear classifier.",
    3: "Each team's preprocessed data, given to the strong shallow classifier.",
    4: "Each team's preprocessed data, given to its linear classifier without learning a representation.",
    5: "The same after one layer learned without labels.",
    6: "The same after the whole deep learner: the condition of most interest.",
}
METRICS = {
    "map11": "Average precision of each label at 11 recalls, with equal confidences passing together; its mean over "
    "labels is MAP. A label without positives is left out and counted.",
    "mrmse": "Root mean squared error of each rating, predictions clipped to the range; its mean is mRMSE.",
}
MEBIBYTE = 2**20


def opening_sections(result: ResultFolder, analysis: HarnessAnalysis) -> tuple[Section, ...]:
    """What was asked, of what, and how."""
    return filled(
        Section(
            "Claims", "Each claim was fixed beforehand and is tested the same way on every task.", _claims(analysis)
        ),
        Section("Conditions", "", (conditions_picture(), _conditions(result))),
        Section("Data", "", tuple(_data(result))),
        Section("Modules", "", tuple(_modules(result))),
        Section("Metrics and protocol", "", tuple(_protocol(result, analysis))),
    )


def closing_sections(
    result: ResultFolder, analysis: HarnessAnalysis, state: ReportState, *, times: bool
) -> tuple[Section, ...]:
    """What must be known to repeat or to doubt the result."""
    return filled(
        Section("Deviations and iterations", "", tuple(_deviations(result))),
        Section("Comments of the teams", "", tuple(_comments(state, analysis.teams))),
        Section("Logistics", "", tuple(_logistics(result, times=times)), detail=True),
        Section("Appendix", "", (facts_table(facts(result, analysis, state)),), detail=True),
    )


def _claims(analysis: HarnessAnalysis) -> tuple[Figure, ...]:
    rows = tuple(
        (
            claim.name,
            claim.sentence,
            f"{claim.system} against {claim.against}",
            "better" if claim.hypothesis == "superior" else "not worse by the margin",
        )
        for claim in analysis.claims
    )
    strong = frozenset(at for at, claim in enumerate(analysis.claims) if claim.headline)
    return (Table("Claims and their tests", ("Claim", "In words", "Conditions", "To be shown"), rows, emphasis=strong),)


def _conditions(result: ResultFolder) -> Table:
    letters = [team["letter"] for team in result.manifest["teams"]]
    rows = tuple(
        (
            condition.number,
            condition.title,
            WHAT[condition.number],
            ", ".join(f"{condition.number}{letter}" for letter in (letters if condition.by_team else [""])),
        )
        for condition in CONDITIONS
    )
    return Table("Conditions and their runs", ("Number", "Name", "What it does", "Runs"), rows)


def _data(result: ResultFolder) -> Iterator[Figure]:
    rows, manifest = [], result.manifest
    for task in result.tasks:
        data, splits = manifest["data"][task], manifest["splits"][task]
        first = next(iter(splits.values()))
        sizes = f"{len(first['folds'])} folds of {min(first['folds']):,} to {max(first['folds']):,}"
        overlap = first.get("group_overlap")
        rows.append(
            (
                task,
                data["rows"],
                ", ".join(result.targets(task)),
                sizes,
                first["validation"],
                first["test"],
                "one for each target" if len(splits) > 1 else "shared",
                None if overlap is None else f"{overlap:.1%} of test rows",
            )
        )
    columns = ("Task", "Rows", "Targets", "Training", "Validation", "Test", "Splits", "Group also in training")
    yield Table("Data and splits", columns, tuple(rows))
    found = tuple(_counts(manifest["data"]))
    if found:
        yield Table("Counts found beside those of the plan", ("Task", "What", "Found", "Published"), found)


def _counts(data: Mapping[str, Any]) -> Iterator[tuple[Cell, ...]]:
    for task, told in data.items():
        published = told["counts"].get("published", {})
        for name, value in published.items():
            yield task, name.replace("_", " "), told["counts"].get(name), value


def _modules(result: ResultFolder) -> Iterator[Figure]:
    rows = tuple(
        (
            name,
            told["role"],
            told["summary"],
            f"{told['needs']} to {told['gives']}",
            told["code"].removeprefix("sha256:")[:12],
        )
        for name, told in result.manifest["modules"].items()
    )
    yield Table(
        "Modules", ("Module", "Role", "What it is", "Rows", "Code"), rows, "Code: the first digits of its hash."
    )
    yield Table("Systems of the teams", ("Team", "Task", "Part", "Module", "Parameters"), tuple(_systems(result)))
    lines = tuple(_one_code(result))
    if lines:
        yield Text("One code for all tasks?", lines)
    yield from _dossiers(result)
    yield from _trained(result)


def _dossiers(result: ResultFolder) -> Iterator[Table]:
    """Where each frozen entry has its papers, and which of them are missing (H-30)."""
    rows = tuple(
        (
            *entry.split("/", 1),
            told["folder"] or "none given",
            ", ".join(sorted(told["found"])) or "nothing",
            ", ".join(sorted(told["missing"])) or "nothing",
        )
        for entry, told in result.manifest.get("dossiers", {}).items()
    )
    if rows:
        note = "Papers stand in the folder, beside the plan. What is missing is listed, and says nothing of the system."
        yield Table("Dossiers", ("Team", "Task", "Folder", "Found", "Missing"), rows, note)


def _trained(result: ResultFolder) -> Iterator[Table]:
    """Systems that a team trained itself, with what it declared and what of it does not hold (H-28)."""
    rows = tuple(
        (
            told["team"],
            told["task"],
            told["split"],
            told["used"],
            ", ".join(f"{name} = {value}" for name, value in sorted(told["declared"].items())),
            "; ".join(map(str, told["faults"])) or "holds",
        )
        for told in result.manifest.get("trained", ())
    )
    if rows:
        columns = ("Team", "Task", "Split", "Used", "Declared", "Checked")
        yield Table("Systems trained by their team", columns, rows)


def _systems(result: ResultFolder) -> Iterator[tuple[Cell, ...]]:
    for team in result.manifest["plan"]["teams"]:
        for task, system in team["systems"].items():
            for part in ("preprocessor", "learner", "linear"):
                if part in system:
                    told = system[part]
                    values = ", ".join(f"{name} = {value}" for name, value in sorted(told["parameters"].items()))
                    yield team["name"], task, part, told["module"], values or "as they come"


def _one_code(result: ResultFolder) -> Iterator[str]:
    """Whether one code hash serves all modalities of a team (H-32)."""
    modules = result.manifest["modules"]
    for team in result.manifest["plan"]["teams"]:
        chosen = [system["learner"]["module"] for system in team["systems"].values() if "learner" in system]
        codes = {modules[name]["code"] for name in chosen}
        if len(chosen) > 1:
            said = "one learner with one code hash serves" if len(codes) == 1 else f"{len(codes)} code hashes serve"
            yield f"{team['name']}: {said} its {plural('task', len(chosen))}."


def _protocol(result: ResultFolder, analysis: HarnessAnalysis) -> Iterator[Figure]:
    used = dict.fromkeys(task.metric for task in analysis.tasks.values())
    yield Text("Metrics", tuple(METRICS[metric] for metric in used))
    yield Text(
        "Protocol",
        (
            "Learners train once, without labels, on training and validation rows; nothing learns during the test.",
            "A classifier trains on one fold only. Its parameters are chosen on the other folds and the extra "
            "validation rows; each fold's classifier predicts the whole test set.",
            *analysis.notes,
        ),
    )
    rows = tuple(
        (task, told["folds"], told["train_share"], told["n"], told.get("margin"), told["metric"])
        for task, told in result.manifest["plan"]["tasks"].items()
    )
    columns = ("Task", "K folds", "P training share", "N for folds", "Margin", "Metric")
    yield Table("Numbers of the protocol", columns, rows)


def _deviations(result: ResultFolder) -> Iterator[Figure]:
    found = tuple(result.manifest["deviations"])
    yield Text("Deviations from the published protocol", found or ("None.",))
    remarks = tuple(result.manifest.get("notes", ()))
    if remarks:
        yield Text("What else must be known", remarks)
    iterations = result.manifest["iterations"]
    if len(iterations) > 1:
        rows = tuple((one["number"], ", ".join(one["runs"]) or "all", one["reason"] or "first") for one in iterations)
        yield Table("Iterations", ("Number", "Runs", "Reason"), rows)


def _comments(state: ReportState, teams: Mapping[str, str]) -> Iterator[Figure]:
    if state.comments:
        rows = tuple((teams.get(one.team, one.team), one.state, one.text) for one in state.comments)
        yield Table("Comments of the teams", ("Team", "When the report was", "Comment"), rows)


def _logistics(result: ResultFolder, *, times: bool) -> Iterator[Figure]:
    rows = tuple((name, version) for name, version in result.manifest["software"].items())
    yield Table("Software", ("Package", "Version"), rows)
    if times:
        yield Table(
            "Time and memory",
            ("Step", "How many", "CPU and waiting, s", "Longest, s", "Peak memory, MiB"),
            tuple(_times(result.times())),
            "Measured where the plan was run; not part of any result.",
        )
        rows = tuple((name, value) for name, value in hardware())
        yield Table("Hardware of this report", ("What", "Found"), rows)


def _times(entries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Cell, ...]]:
    kinds: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for entry in entries:
        kinds[str(entry["step"]).partition(" ")[0]].append(entry)
    for kind, found in sorted(kinds.items()):
        seconds = [float(entry["seconds"]) for entry in found]
        peak = max(int(entry.get("peak_bytes", 0)) for entry in found) // MEBIBYTE
        yield kind, len(found), sum(seconds), max(seconds), peak


def hardware() -> Iterator[tuple[str, str]]:
    """What this machine is, without its name."""
    import os
    import platform

    yield "machine", platform.machine()
    yield "system", platform.system()
    yield "processors", str(os.cpu_count())


def facts(result: ResultFolder, analysis: HarnessAnalysis, state: ReportState) -> tuple[tuple[str, str], ...]:
    """Settings, versions and digests."""
    manifest = result.manifest
    seed = manifest["seeds"]
    told = [
        ("Plan", str(manifest["plan"]["name"])),
        ("Plan digest", str(manifest["plan_digest"])),
        ("Report", state.state),
        ("Iteration", str(manifest["iteration"])),
        ("Seed", "sealed: " + str(seed.get("commitment", "")) if seed["sealed"] else f"typed in: {seed['seed']}"),
        *((f"Data {task}", str(data["digest"])) for task, data in manifest["data"].items()),
        *((f"Split {name}", str(digest)) for name, digest in manifest["partitions"].items()),
        *((f"Analysis {name}", str(value)) for name, value in analysis.settings.items()),
        ("Basanite", str(manifest["software"]["basanite"])),
    ]
    return tuple(told)
