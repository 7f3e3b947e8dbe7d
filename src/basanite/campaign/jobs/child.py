"""The process that reads strangers' bytes: no network, no database, read-only inputs, limits of every kind (X-8).

It does what the command line does and writes the same bytes: `out/problems.json` as `validate --json` prints it, and
behind it what that does not list, `out/result.json` as `score --json`, `out/comparison.json` as `compare --json`;
beside a result the data of its charts, `out/figures.json`. What to do stands in `in/order.json`.
Where no box could be closed around it, it limits itself before it reads anything else.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from basanite import registry, spine
from basanite.analysis.restricting import restricted
from basanite.analysis.results import Analysis
from basanite.campaign.jobs import ranking, showing
from basanite.campaign.model import problem_list
from basanite.errors import BasaniteError
from basanite.harness.sandbox import filtering, syscalls
from basanite.interface import Work, system_name
from basanite.problems import LISTED_PER_RULE, Findings
from basanite.reports.formats import figures_output, json_output
from basanite.tasks import Inputs, Opened

ORDER: Final = "order.json"
STARTED: Final = b"started\n"
"""What is printed once everything is imported and nothing has been read: an error before it quotes no file."""
CHECKED: Final = b"checked\n"
"""What is printed once the submission has been read: whatever happens later is not the submission's fault."""
REFUSED: Final = 3
"""The exit code of an order that cannot be carried out: a setting or a reference that does not fit."""
OUT_OF_MEMORY: Final = 4
GIVEN, OUT = Path("in"), Path("out")
SKETCH: Final = 16
"""How many digests of files are told."""


def main() -> int:
    """Carry out the order that lies in the folder of inputs."""
    order = json.loads((GIVEN / ORDER).read_bytes())
    if order["limits"]:
        confine(order["limits"])
    registry.trust_only(("basanite", *order["plugins"]))
    try:
        _carry_out(order)
    except BasaniteError as error:
        sys.stderr.write(f"{error}\n")
        return REFUSED
    except MemoryError:
        return OUT_OF_MEMORY
    return 0


def _carry_out(order: Mapping[str, Any]) -> None:
    wanted = order["work"]
    if wanted == "start":
        _load_tasks()
        return
    if wanted in PREPARING:
        os.write(1, STARTED)
        PREPARING[wanted](order)
        return
    analysis = {"draws": order["draws"], "seed": order["seed"]}
    work = Work(order["task"], order["settings"], **analysis)
    os.write(1, STARTED)
    if wanted == "compare":
        _compare(work, order)
    else:
        _examine(work, order, problems=wanted != "score", result=wanted != "validate")


def _load_tasks() -> None:
    """Import all that a submission could need, and do nothing: whether scoring can start at all."""
    for name in registry.names("tasks"):
        spine.find_task(name)


def _show(order: Mapping[str, Any]) -> None:
    """Summaries for judges, their pictures encoded anew (X-9)."""
    after = int(order["settings"].get("after", 0))
    found = showing.write_summaries(GIVEN / order["submission"], OUT, after=after)
    os.write(1, CHECKED)
    _write(showing.LISTED, found)


def _rank(order: Mapping[str, Any]) -> None:
    """The first documents of each query, for a pool (M95)."""
    findings, depth = Findings(), int(order["settings"]["depth"])
    found = ranking.first_documents(GIVEN / order["submission"], order["task"], depth, findings)
    os.write(1, CHECKED)
    if findings.valid:
        _write(ranking.RANKED, found)


PREPARING: Final = {"summaries": _show, "rank": _rank}
"""What is not scored but made ready for judges."""


def _examine(work: Work, order: Mapping[str, Any], *, problems: bool, result: bool) -> None:
    """Read a submission once; write its problems, and what it scores if there are none."""
    inputs, found = _inputs(order), Findings(problem_list.KEPT_PER_RULE)
    opened = work.validated(inputs, found, scored=True)
    if problems:
        (OUT / "problems.json").write_text(problem_list.written(found, order["task"]), encoding="utf-8", newline="")
        _write("members.json", _members(opened))
    findings = found.cut(LISTED_PER_RULE)
    os.write(1, CHECKED)
    if result and findings.valid:
        analysis = work.analysed(opened, findings, system=system_name(inputs.submission))
        _write("result.json", json_output.score_object(analysis))
        _write_figures(work, analysis)


def _write_figures(work: Work, analysis: Analysis) -> None:
    """The task's charts as data; where one cannot be drawn, the result stands without them."""
    try:
        figures = figures_output.figures_object(work.task.figures(analysis))
    except Exception as error:  # noqa: BLE001 (a plug-in's chart must not cost its users the score)
        sys.stderr.write(f"no charts: {type(error).__name__}\n")
        return
    _write("figures.json", figures)


def _members(opened: Opened | None) -> list[str]:
    """The smallest digests of the files of an archive, by which near copies are found (X-7); none for other tasks."""
    lines = getattr(getattr(getattr(opened, "source", None), "digest", None), "lines", ())
    return sorted({hashlib.sha256(line).hexdigest()[:24] for line in lines})[:SKETCH]


def _compare(work: Work, order: Mapping[str, Any]) -> None:
    """Score systems by name and say which differ."""
    shared = _inputs(order)
    analyses = [
        _part(work.analysis(replace(shared, submission=GIVEN / path), system=name), order["only"])
        for name, path in order["systems"].items()
    ]
    os.write(1, CHECKED)
    _write("comparison.json", json_output.compare_object(work.comparison(analyses)))


def _part(analysis: Analysis, only: Mapping[str, str]) -> Analysis:
    """What is left of an analysis over the units that count: open queries never do (M20)."""
    if not only:
        return analysis
    return spine.analyse(restricted(analysis.scores, only["factor"], only["level"]), analysis.design)


def _inputs(order: Mapping[str, Any]) -> Inputs:
    def one(role: str) -> Path | None:
        return GIVEN / order[role] if order.get(role) else None

    metadata = tuple(GIVEN / path for path in order.get("metadata", ()))
    roles = one("documents"), one("queries"), metadata, one("judgements"), one("human")
    inputs = Inputs(GIVEN / order.get("submission", ""), None, *roles)
    return inputs.against([GIVEN / path for path in order["reference"]])


def _write(name: str, data: Any) -> None:
    (OUT / name).write_text(json_output.dumps(data), encoding="utf-8", newline="")


def confine(limits: Mapping[str, Any]) -> None:
    """Limits that a process can put on itself for good: it dies with its parent and opens no socket."""
    parent = os.getppid()
    if sys.platform == "linux":
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        filtering.close_filter()
    if os.getppid() != parent:
        os._exit(1)
    for kind, most in (
        (resource.RLIMIT_CPU, int(limits["seconds"]) + 1),
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["output"]),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    sys.exit(main())
