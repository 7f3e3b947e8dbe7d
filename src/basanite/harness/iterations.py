"""Iterations of an evaluation: the whole of it first, then selected runs again, each time with a reason (H-33)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from basanite.errors import SettingError
from basanite.harness.evaluation import Evaluation
from basanite.harness.results import ResultFolder


@dataclass(frozen=True)
class Iteration:
    """One time that runs were done: its number, which runs (none = all), under which plan, and why."""

    number: int
    runs: tuple[str, ...]
    plan_digest: str
    reason: str = ""
    earlier: tuple[Mapping[str, Any], ...] = ()

    def history(self) -> list[dict[str, Any]]:
        """All iterations up to this one, as they are written down."""
        mine = {"number": self.number, "runs": list(self.runs), "plan_digest": self.plan_digest, "reason": self.reason}
        return [*map(dict, self.earlier), mine]


def next_iteration(evaluation: Evaluation, out: Path, only: Sequence[str], reason: str) -> Iteration:
    """Which iteration a run is; a folder with another plan or other splits is never mixed with this one."""
    digest = evaluation.plan.digest()
    if not (out / "manifest.json").is_file():
        return Iteration(1, tuple(only), digest, reason)
    before = ResultFolder(out)
    *earlier, last = before.manifest["iterations"]
    same = last["plan_digest"] == digest
    if not only:
        return _whole(last, earlier, out, same=same)
    if before.manifest["partitions"] != evaluation.shown_digests():
        raise SettingError(f"{out} was made with other splits, so runs cannot be redone in it. Choose another --out.")
    if same and reason in ("", last["reason"]) and _adds(before, last, only):
        return _of(last, earlier, sorted({*last["runs"], *only}))
    if not reason.strip():
        raise SettingError("Runs that are redone need a reason, which is kept: give --reason TEXT.")
    return Iteration(last["number"] + 1, tuple(only), digest, reason, (*earlier, last))


def _whole(last: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]], out: Path, *, same: bool) -> Iteration:
    """The plan again: what is there is reused, and what is missing of the first or last iteration is done."""
    if not same:
        raise SettingError(
            f"{out} holds the results of another plan. Choose another --out, or redo runs: --only RUN --reason TEXT."
        )
    return _of(last, earlier, last["runs"] if earlier else ())


def _adds(before: ResultFolder, last: Mapping[str, Any], only: Sequence[str]) -> bool:
    """Whether runs are new to the folder, or the last iteration is called once more: then nothing is redone."""
    done = {status.run for status in before.status()}
    return bool(last["runs"]) and (set(only) <= set(last["runs"]) or not done & set(only))


def _of(last: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]], runs: Sequence[str]) -> Iteration:
    return Iteration(last["number"], tuple(runs), last["plan_digest"], last["reason"], tuple(earlier))
