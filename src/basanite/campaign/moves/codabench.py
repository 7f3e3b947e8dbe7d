"""Bundles of Codabench (version 2): phases and tasks become windows, programs are kept, everything else is told.

The layout is that of "Competition YAML structure" in the documentation of Codabench.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from basanite.campaign.moves.bundle import Bundle
from basanite.campaign.moves.configuration import Entries, check_problems, read_configuration
from basanite.campaign.moves.folder import ENDLESS, Column, Moved, Phase, Program, quota_of

PAGES: Final = {"overview": "description", "evaluation": "participation", "data": "data"}
RULES: Final = {"Force_Best": "best"}
IGNORED: Final = frozenset({"version", "index", "forum_enabled", "key", "id", "is_public"})


def read_codabench(bundle: Bundle) -> Moved:
    """What a bundle says."""
    top = read_configuration(bundle, ("competition.yaml", "competition.yml"))
    if top.raw("html") is not None or top.inner("phases") is not None:
        bundle.lose("the old layout of CodaLab: convert the bundle to version 2 of Codabench for its phases")
    moved = Moved(top.text("title", "Moved competition"), "Codabench", bundle)
    moved.about = _about(top)
    columns, board = _leaderboards(top)
    image = top.text("docker_image")
    tasks = {one.text("index", str(at)): one for at, one in enumerate(top.entries("tasks"))}
    for index, task in tasks.items():
        _keep_program(moved, task, f"task{index}", (columns, image))
    for at, phase in enumerate(top.entries("phases")):
        _add_windows(moved, phase, at, tasks, board)
    for at, kit in enumerate(top.entries("solutions")):
        path = bundle.find(kit.text("path"))
        if path is not None:
            moved.kits[f"solution{at}"] = path
    moved.logo = bundle.find(top.text("image"))
    for task in tasks.values():
        task.close(IGNORED)
    top.close(IGNORED)
    check_problems(top)
    return moved


def _about(top: Entries) -> dict[str, str]:
    about = {"summary": top.text("description")[:300], "contact": _address(top.text("contact_email"))}
    about["terms"] = top.bundle.text(top.text("terms"))
    others = []
    for page in top.entries("pages"):
        title, text = page.text("title", "Page"), top.bundle.text(page.text("file"))
        place = PAGES.get(title.lower())
        if place and not about.get(place):
            about[place] = text
        elif text:
            others.append(f"## {title}\n\n{text}")
    about["description"] = "\n\n".join(filter(None, [about.get("description", ""), *others]))
    return about


def _address(mail: str) -> str:
    return f"mailto:{mail}" if "@" in mail else ""


def _leaderboards(top: Entries) -> tuple[tuple[Column, ...], str]:
    """The columns of all leaderboards, and which run stands there."""
    columns: list[Column] = []
    rules = []
    for board in top.entries("leaderboards"):
        rule = board.text("submission_rule")
        rules.append(RULES.get(rule, "latest"))
        if rule not in ("", "Force_Last", "Force_Latest_Multiple", "Force_Best"):
            top.bundle.lose(f"the rule {rule!r} of a leaderboard: the latest run of each team stands there")
        for one in board.entries("columns"):
            best = "low" if one.text("sorting", "desc") == "asc" else "high"
            columns.append(Column(one.text("key", "score"), one.text("title", one.text("key", "score")), best))
            if one.text("computation"):
                top.bundle.lose(f"the computed column {columns[-1].title!r}")
    return tuple(columns), rules[0] if rules else "latest"


def _keep_program(moved: Moved, task: Entries, name: str, shared: tuple[tuple[Column, ...], str]) -> None:
    bundle, (columns, image) = moved.bundle, shared
    source = bundle.find(task.text("scoring_program"))
    if task.text("ingestion_program"):
        bundle.lose(f"the ingestion program of {task.text('name', name)!r}: submissions here are answers, not programs")
    if source is not None:
        moved.programs.append(Program(name, source, "codabench", image=image, columns=columns))


def _add_windows(moved: Moved, phase: Entries, at: int, tasks: Mapping[str, Entries], board: str) -> None:
    bundle, title = moved.bundle, phase.text("name", f"Phase {at + 1}")
    opens, closes = phase.moment("start"), phase.moment("end")
    if opens is None:
        phase.close(IGNORED)
        bundle.lose(f"the phase {title!r}, which has no start")
        return
    if closes is None:
        bundle.lose(f"that the phase {title!r} never ends: its window closes after ten years")
        closes = opens + ENDLESS
    quota = quota_of(phase.count("max_submissions_per_day"), phase.count("max_submissions"), bundle)
    named = phase.texts("tasks")
    if len(named) > 1:
        bundle.lose(f"that one submission answers all tasks of the phase {title!r}: each task is a window here")
    for index in named:
        task = tasks.get(index)
        if task is None:
            bundle.lose(f"task {index[:20]} of the phase {title!r}, which the bundle does not describe")
            continue
        name = task.text("name", f"Task {index}")
        moved.phases.append(
            Phase(
                f"p{at}t{index}"[:20].lower(),
                f"{title}: {name}" if len(named) > 1 else title,
                opens,
                closes,
                quota,
                phase.flag("hide_score_output"),
                board,
                f"task{index}",
                _data(bundle, phase, task),
                bundle.find(task.text("reference_data")),
            )
        )
    kit = bundle.find(phase.text("starting_kit")) if phase.text("starting_kit") else None
    if kit is not None:
        moved.kits[f"phase{at}"] = kit
    phase.text("description")
    phase.close(IGNORED)


def _data(bundle: Bundle, phase: Entries, task: Entries) -> tuple[Path, ...]:
    """What participants get: the public data of the phase, and the task's input."""
    names = (phase.text("public_data"), task.text("input_data"))
    return tuple(path for path in map(bundle.find, filter(None, names)) if path is not None)
