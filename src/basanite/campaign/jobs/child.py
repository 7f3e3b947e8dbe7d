"""The process that reads strangers' bytes: no network, no database, read-only inputs, limits of every kind (X-8).

It does what the command line does and writes the same bytes: `out/problems.json` as `validate --json` prints it, and
behind it what that does not list, `out/result.json` as `score --json`, `out/comparison.json` as `compare --json`;
beside a result the data of its charts, `out/figures.json`. What to do stands in `in/order.json`.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from basanite import canonical, registry
from basanite.analysis.many_systems import MOST_BY_PAIRS
from basanite.analysis.restriction import restrict_scores
from basanite.analysis.results import Analysis, compare_object, score_object
from basanite.campaign.jobs import summaries
from basanite.campaign.model import refusals
from basanite.errors import BasaniteError
from basanite.figures import figures_object
from basanite.formats.system_names import system_name
from basanite.kernel import Scores
from basanite.models.transcript_page import CallSearch, page_object
from basanite.problems import LISTED_PER_RULE, Findings
from basanite.sandbox.child import CHECKED, GIVEN, OUT, REFUSED, STARTED, serve_request
from basanite.scoring import Scorer, analyse_scores, find_task
from basanite.tasks import Inputs, Opened

CALLS: Final = "calls.json"
SKETCH: Final = 16
"""How many digests of files are told."""


def main() -> int:
    """Carry out the order that lies in the folder of inputs."""
    return serve_request(_carry_out, _refuse)


def _refuse(error: BasaniteError) -> int:
    sys.stderr.write(f"{error}\n")
    return REFUSED


def _carry_out(order: Mapping[str, Any]) -> None:
    registry.trust_only(("basanite", *order["plugins"]))
    wanted = order["work"]
    if wanted == "start":
        for name in registry.names("tasks"):  # all that a submission could need: whether scoring can start at all
            find_task(name)
        return
    if wanted in PREPARING:
        os.write(1, STARTED)
        PREPARING[wanted](order)
        return
    analysis = {"draws": order["draws"], "seed": order["seed"]}
    scorer = Scorer(order["task"], order["settings"], **analysis)
    os.write(1, STARTED)
    if wanted == "compare":
        _compare(scorer, order)
    else:
        _examine(scorer, order, problems=wanted != "score", result=wanted != "validate")


def _show(order: Mapping[str, Any]) -> None:
    """Summaries for judges, their pictures encoded again (X-9)."""
    after = int(order["settings"].get("after", 0))
    found = summaries.write_summaries(GIVEN / order["submission"], OUT, after=after)
    os.write(1, CHECKED)
    _write(summaries.LISTED, found)


def _rank(order: Mapping[str, Any]) -> None:
    """The first documents of each query, for a pool (M95)."""
    findings, depth = Findings(), int(order["settings"]["depth"])
    found = summaries.first_documents(GIVEN / order["submission"], order["task"], depth, findings)
    os.write(1, CHECKED)
    if findings.valid:
        _write(summaries.RANKED, found)


def _find_calls(order: Mapping[str, Any]) -> None:
    """The calls of transcripts that a reader looks for (L-4)."""
    settings = order["settings"]
    wanted = CallSearch(**{**settings, "items": tuple(settings["items"])})
    found = page_object(GIVEN / order["submission"], wanted)
    os.write(1, CHECKED)
    _write(CALLS, found)


PREPARING: Final = {"summaries": _show, "rank": _rank, "calls": _find_calls}
"""What is not scored but made ready for judges and readers."""


def _examine(scorer: Scorer, order: Mapping[str, Any], *, problems: bool, result: bool) -> None:
    """Read a submission once; write its problems, and what it scores if there are none."""
    inputs, found = _inputs(order), Findings(refusals.KEPT_PER_RULE)
    opened = scorer.open_submission(inputs, found, scored=True)
    if problems:
        (OUT / "problems.json").write_text(refusals.problem_text(found, order["task"]), encoding="utf-8", newline="")
        _write("members.json", _members(opened))
    findings = found.cut(LISTED_PER_RULE)
    os.write(1, CHECKED)
    if result and findings.valid:
        analysis = scorer.analyse_opened(opened, findings, system=system_name(inputs.submission))
        _write("result.json", _add_labels(score_object(analysis), order["notes"]))
        _write_figures(scorer, analysis)


def _add_labels(result: dict[str, Any], notes: Sequence[str]) -> dict[str, Any]:
    """A result with what must be said of it, also beside each value, in place of other remarks."""
    if not notes:
        return result
    values = {name: {**entry, "flags": list(notes)} for name, entry in result["values"].items()}
    return {**result, "values": values, "notes": [*result["notes"], *notes]}


def _write_figures(scorer: Scorer, analysis: Analysis) -> None:
    """The task's charts as data; where one cannot be drawn, the result stands without them."""
    try:
        figures = figures_object(scorer.task.figures(analysis))
    except Exception as error:  # noqa: BLE001 (a plug-in's chart must not cost its users the score)
        sys.stderr.write(f"no charts: {type(error).__name__}\n")
        return
    _write("figures.json", figures)


def _members(opened: Opened | None) -> list[str]:
    """The smallest digests of the files of an archive, by which near copies are found (X-7); none for other tasks."""
    lines = getattr(getattr(getattr(opened, "source", None), "digest", None), "lines", ())
    return sorted({hashlib.sha256(line).hexdigest()[:24] for line in lines})[:SKETCH]


def _compare(scorer: Scorer, order: Mapping[str, Any]) -> None:
    """Score systems by name and say which differ."""
    shared = _inputs(order)
    if len(order["systems"]) > MOST_BY_PAIRS:
        scores = (
            _kept_part(scorer.scores(replace(shared, submission=GIVEN / path), system=name), order["only"])
            for name, path in order["systems"].items()
        )
        found = scorer.ranking_of_many(scores)
        os.write(1, CHECKED)
        _write("comparison.json", found.as_object(scorer.task_name, scorer.design))
        return
    analyses = [
        _part(scorer.analysis(replace(shared, submission=GIVEN / path), system=name), order["only"])
        for name, path in order["systems"].items()
    ]
    os.write(1, CHECKED)
    _write("comparison.json", compare_object(scorer.comparison(analyses)))


def _part(analysis: Analysis, only: Mapping[str, str]) -> Analysis:
    """What is left of an analysis over the units that count: open queries never do (M20)."""
    return analyse_scores(_kept_part(analysis.scores, only), analysis.design) if only else analysis


def _kept_part(scores: Scores, only: Mapping[str, str]) -> Scores:
    return restrict_scores(scores, only["factor"], only["level"]) if only else scores


def _inputs(order: Mapping[str, Any]) -> Inputs:
    def one(role: str) -> Path | None:
        return GIVEN / order[role] if order.get(role) else None

    metadata = tuple(GIVEN / path for path in order.get("metadata", ()))
    roles = one("documents"), one("queries"), metadata, one("judgements"), one("human")
    inputs = Inputs(GIVEN / order.get("submission", ""), None, *roles)
    return inputs.against([GIVEN / path for path in order["reference"]])


def _write(name: str, data: Any) -> None:
    (OUT / name).write_text(canonical.dumps(data), encoding="utf-8", newline="")


if __name__ == "__main__":
    sys.exit(main())
