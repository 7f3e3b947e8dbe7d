"""Configurations of EvalAI: phases become windows, the evaluation script is kept, everything else is told.

The layout is that of "Challenge configuration" in the documentation of EvalAI.
"""

from __future__ import annotations

from typing import Final

from basanite.campaign.moves.bundle import Bundle
from basanite.campaign.moves.configuration import Entries, check_problems, read_configuration
from basanite.campaign.moves.folder import Column, Moved, Phase, Program, quota_of

IGNORED: Final = frozenset({"id", "challenge", "published", "tags", "category", "is_active", "is_public", "domain"})
PUBLIC: Final = "3"
"""The visibility of a leaderboard that everybody sees; 1 is the host alone, 2 hosts and the team itself."""


def read_evalai(bundle: Bundle) -> Moved:
    """What a configuration says."""
    top = read_configuration(bundle, ("challenge_config.yaml", "challenge_config.yml"))
    moved = Moved(top.text("title", "Moved challenge"), "EvalAI", bundle)
    texts = {key: bundle.text(top.text(key)) for key in ("description", "evaluation_details", "terms_and_conditions")}
    moved.about = {
        "summary": top.text("short_description")[:300],
        "description": texts["description"],
        "participation": "\n\n".join(
            filter(None, (bundle.text(top.text("submission_guidelines")), texts["evaluation_details"]))
        ),
        "terms": texts["terms_and_conditions"],
    }
    top.text("leaderboard_description")
    script = bundle.find(top.text("evaluation_script"))
    if top.flag("remote_evaluation"):
        bundle.lose("remote evaluation: workers outside the server score nothing here")
    if script is not None:
        command = "python3 -c 'evaluate(test_annotation_file, user_submission_file, phase_codename)'"
        moved.programs.append(Program("evaluation", script, "evalai", command, columns=_columns(top)))
    boards = _phase_boards(top)
    for at, phase in enumerate(top.entries("challenge_phases")):
        _add_window(moved, phase, at, boards)
    for split in top.entries("dataset_splits"):
        bundle.lose(f"the dataset split {split.text('name')!r} as a leaderboard of its own: a phase is one window")
    for key in ("start_date", "end_date"):
        top.moment(key)
    moved.logo = bundle.find(top.text("image"))
    top.close(IGNORED)
    check_problems(top)
    return moved


def _columns(top: Entries) -> tuple[Column, ...]:
    found: list[Column] = []
    for board in top.entries("leaderboard"):
        schema = board.inner("schema")
        if schema is None:
            continue
        about = schema.inner("metadata")
        for label in schema.texts("labels"):
            one = about.inner(label) if about is not None else None
            found.append(Column(label, label, "low" if one is not None and one.flag("sort_ascending") else "high"))
        schema.text("default_order_by")
        schema.close()
    return tuple(found)


def _phase_boards(top: Entries) -> dict[str, tuple[bool, str]]:
    """By the id of a phase: whether everybody sees its leaderboard, and which run of a team stands there."""
    found: dict[str, tuple[bool, str]] = {}
    for one in top.entries("challenge_phase_splits"):
        phase, seen = one.text("challenge_phase_id"), one.text("visibility") == PUBLIC
        board = "latest" if one.flag("show_leaderboard_by_latest_submission") else "best"
        found[phase] = found.get(phase, (False, board))[0] or seen, board
    return found


def _add_window(moved: Moved, phase: Entries, at: int, boards: dict[str, tuple[bool, str]]) -> None:
    bundle, title = moved.bundle, phase.text("name", f"Phase {at + 1}")
    opens, closes = phase.moment("start_date"), phase.moment("end_date")
    public, board = boards.get(phase.text("id"), (phase.flag("leaderboard_public"), "best"))
    monthly = phase.count("max_submissions_per_month")
    if monthly is not None:
        bundle.lose(f"the limit of {monthly} submissions a month in the phase {title!r}")
    quota = quota_of(phase.count("max_submissions_per_day"), phase.count("max_submissions"), bundle)
    for one in phase.entries("submission_meta_attributes"):
        bundle.lose(f"the field {one.text('name')!r} of submissions: ask for it in a track (`required`)")
    for one in phase.entries("default_submission_meta_attributes"):
        one.text("name")
    reference = bundle.find(phase.text("test_annotation_file")) if phase.text("test_annotation_file") else None
    phase.text("description"), phase.text("codename"), phase.flag("leaderboard_public")
    phase.close(IGNORED)
    if opens is None or closes is None:
        bundle.lose(f"the phase {title!r}, which has no start or no end")
        return
    moved.phases.append(
        Phase(f"phase{at + 1}", title, opens, closes, quota, not public, board, "evaluation", (), reference)
    )
