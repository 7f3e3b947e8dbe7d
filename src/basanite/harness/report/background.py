"""What was evaluated, as figures: claims, conditions, data, modules, metrics, protocol, logistics and the appendix."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape

import vl_convert

from basanite.figures import Cell, Figure, Image, Table, Text
from basanite.harness.analysis.model import HarnessAnalysis
from basanite.harness.conditions import CONDITIONS, Condition
from basanite.harness.report.states import ReportState
from basanite.harness.results import ResultFolder
from basanite.reports import theme
from basanite.reports.report import Section, facts_table, sections_with_content
from basanite.reports.wording import plural

WIDTH: Final = 1180
ROW: Final = 64
TOP: Final = 56
BOX: Final = (210, 44)
COLUMNS: Final = (250, 560, 870)
"""Where boxes begin: the source of rows, the learner, the classifier."""
INK: Final = theme.variable
VARIABLE: Final = re.compile(r"var\(--[\w-]+, (#\w+)\)")
SCALE: Final = 2.0
LEARNED: Final = {"none": "", "shallow": "SUL: one layer", "deep": "DUL: deep learner"}


def conditions_picture() -> Image:
    """The picture with the words that stand for it."""
    words = "; ".join(f"{condition.number}: {', then '.join(_parts(condition))}" for condition in CONDITIONS)
    title, alternative, drawing = "The six conditions and the floor", f"Each row is a condition. {words}.", _drawing()
    content = bytes(vl_convert.svg_to_png(VARIABLE.sub(r"\1", drawing), scale=SCALE))  # slides know no CSS
    return Image(title, alternative, "image/png", content, drawing)


def _parts(condition: Condition) -> list[str]:
    """What a condition chains, in words."""
    if condition.source == "nothing":
        return ["learns nothing"]
    source = "FE: feature extractor" if condition.source == "features" else "PRE: team's preprocessor"
    classifier = "SOTA: strong shallow" if condition.strong else "SLC: team's linear"
    return [part for part in (source, LEARNED[condition.learning], classifier) if part]


def _drawing() -> str:
    height = TOP + ROW * len(CONDITIONS) + 8
    heads = ("where rows come from", "learned without labels", "classifier")
    parts = [_text(x, 30, head, ink="muted", size=17) for x, head in zip(COLUMNS, heads, strict=True)]
    parts += [_row(condition, TOP + ROW * place) for place, condition in enumerate(CONDITIONS)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="Liberation Sans, Arial, sans-serif"><rect width="{WIDTH}" height="{height}" '
        f'fill="{INK("card")}"/>{"".join(parts)}</svg>'
    )


def _row(condition: Condition, y: int) -> str:
    *parts, classifier = _parts(condition)
    drawn = [_text(10, y + 29, f"{condition.number}  {condition.title}", ink="ink", size=19, bold=True)]
    if not parts:
        return "".join((*drawn, _box(COLUMNS[2], y, classifier, "faint")))
    source, *middle = parts
    drawn.append(_box(COLUMNS[0], y, source, "series_8"))
    ends = COLUMNS[1] if middle else COLUMNS[2]
    drawn.append(_arrow(COLUMNS[0] + BOX[0], ends, y))
    if middle:
        drawn.append(_box(COLUMNS[1], y, middle[0], "gold"))
        drawn.append(_arrow(COLUMNS[1] + BOX[0], COLUMNS[2], y))
    drawn.append(_box(COLUMNS[2], y, classifier, "series_2"))
    return "".join(drawn)


def _box(x: int, y: int, words: str, ink: str) -> str:
    shape = f'<rect x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="6" fill="{INK("sunken")}"'
    bar = f'<rect x="{x}" y="{y}" width="6" height="{BOX[1]}" fill="{INK(ink)}"/>'
    return f'{shape} stroke="{INK("rule")}"/>{bar}{_text(x + 16, y + 28, words, ink="ink", size=16)}'


def _arrow(start: int, end: int, y: int) -> str:
    middle = y + BOX[1] // 2
    head = f"{end - 10},{middle - 6} {end - 1},{middle} {end - 10},{middle + 6}"
    line = (
        f'<line x1="{start + 4}" y1="{middle}" x2="{end - 10}" y2="{middle}" stroke="{INK("faint")}" stroke-width="2"/>'
    )
    return f'{line}<polygon points="{head}" fill="{INK("faint")}"/>'


def _text(x: int, y: int, words: str, *, ink: str, size: int, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}" font-size="{size}"{weight} fill="{INK(ink)}">{escape(words)}</text>'


WHAT = {
    0: "The floor, which learns nothing: the mean of the training fold for ratings, a random ranking for labels.",
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
    return sections_with_content(
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
    names = analysis.teams
    comments = tuple((names.get(one.team, one.team), one.state, one.text) for one in state.comments)
    table = Table("Comments of the teams", ("Team", "When the report was", "Comment"), comments)
    return sections_with_content(
        Section("Deviations and iterations", "", tuple(_deviations(result))),
        Section("Comments of the teams", "", (table,) if comments else ()),
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
        yield Table("Counts in the data and in the published plan", ("Task", "What", "Found", "Published"), found)


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
    yield from _trained_systems(result)


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
        note = (
            "Papers are in the folder, beside the plan. Missing ones are listed, which says nothing about the system."
        )
        yield Table("Dossiers", ("Team", "Task", "Folder", "Found", "Missing"), rows, note)


def _trained_systems(result: ResultFolder) -> Iterator[Table]:
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
        yield Text("Further notes", remarks)
    iterations = result.manifest["iterations"]
    if len(iterations) > 1:
        rows = tuple((one["number"], ", ".join(one["runs"]) or "all", one["reason"] or "first") for one in iterations)
        yield Table("Iterations", ("Number", "Runs", "Reason"), rows)


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
