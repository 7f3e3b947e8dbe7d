"""Pytest plug-in: which tests prove which requirement, written down after a complete run.

A test says `@pytest.mark.req("M29", "M28")`, or `@pytest.mark.req("M29", case="bad")` when it shows one side only;
without a case it counts for both. An id that is not in `docs/conformance.toml` fails the collection. A run of some of
the tests writes nothing, so that it cannot take the place of a complete record. A run that leaves slow tests out writes
which ones, by requirement; a run of all tests is written to a second file too, which stays when others follow it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from tools.conformance import CASES, FULL_RECORD, RECORD, REQUIREMENTS, load_requirements, tree_digest

Outcome = Literal["passed", "failed", "skipped"]

COMPLETE_MARKS = {"", "not gpu", "not slow and not gpu"}
_PROPERTY = "req"
_LEFT_OUT = "requirements-left-out"
_SELECTING = ("keyword", "lf", "deselect", "ignore", "ignore_glob", "collectonly", "maxfail")


class RequirementRecorder:
    """Gathers outcomes by requirement in the process that sees all reports, also when workers run the tests."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.known = load_requirements(config.rootpath / REQUIREMENTS).keys()
        self.outcomes: dict[str, Outcome] = {}
        self.proves: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.left_out: dict[str, list[str]] = {}
        self.collected = True
        self.tree = "" if _is_worker(config) else tree_digest(config.rootpath)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Fail a file or class whose marks name a requirement that does not exist."""
        report = yield
        items = [node for node in report.result or [] if isinstance(node, pytest.Item)]
        faults = [f"{item.nodeid}: {fault}" for item in items for fault in self._faults(item)]
        if faults:
            report.outcome, report.result = "failed", []
            report.longrepr = "\n".join(faults)
        return report

    @pytest.hookimpl
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Hang the requirements on each test, for its reports to carry."""
        for item in items:
            for name, case in _marks(item):
                item.user_properties.append((_PROPERTY, [name, case]))

    @pytest.hookimpl
    def pytest_deselected(self, items: Iterable[pytest.Item]) -> None:
        """Take note of the slow tests that will not run."""
        for item in items:
            for name, _ in _marks(item) if item.get_closest_marker("slow") else ():
                self.left_out[name] = sorted({*self.left_out.get(name, ()), item.nodeid})

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Hear from a worker, which alone has collected the tests, what it left out."""
        self.left_out = getattr(node, "workeroutput", {}).get(_LEFT_OUT) or self.left_out

    @pytest.hookimpl
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take note of a file that could not be collected: workers go on with the rest."""
        self.collected = self.collected and not report.failed

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of one phase of one test: a failure in any phase is a failure."""
        marks = [value for key, value in report.user_properties if key == _PROPERTY and isinstance(value, list)]
        for name, case in marks:
            self.proves[name].add((report.nodeid, case))
        if marks and (report.when == "call" or not report.passed):
            self.outcomes[report.nodeid] = _worst(self.outcomes.get(report.nodeid), report.outcome)

    @pytest.hookimpl
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the record if everything was run; a worker only tells what it left out."""
        if _is_worker(self.config):
            vars(self.config)["workeroutput"][_LEFT_OUT] = self.left_out
            return
        ran_through = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not session.shouldstop
        if ran_through and self.collected and is_complete(self.config):
            record = self.record()
            for path in [RECORD] if "not slow" in record["marks"] else [RECORD, FULL_RECORD]:
                write_record(self.config.rootpath / path, record)

    def record(self) -> dict[str, Any]:
        """The object that is written down."""
        ids = {name: self._evidence(proofs) for name, proofs in self.proves.items()}
        marks = self.config.getoption("markexpr")
        return {"ids": ids, "tree": self.tree, "complete": True, "marks": marks, "left_out": self.left_out}

    def _evidence(self, proofs: Iterable[tuple[str, str]]) -> dict[str, Any]:
        by_outcome: dict[str, list[str]] = {"passed": [], "failed": [], "skipped": []}
        cases: dict[str, list[str]] = {case: [] for case in CASES}
        for test, case in sorted(proofs):
            outcome = self.outcomes.get(test, "failed")
            by_outcome[outcome] += [test] if test not in by_outcome[outcome] else []
            for shown in CASES if outcome == "passed" else ():
                cases[shown] += [test] if case in (shown, "") else []
        return {**by_outcome, "cases": cases}

    def _faults(self, item: pytest.Item) -> Iterator[str]:
        for name, case in _marks(item):
            if name not in self.known:
                yield f"no requirement is called {name!r}; see {REQUIREMENTS}"
            if case not in ("", *CASES):
                yield f"case={case!r} is neither {' nor '.join(map(repr, CASES))}"


def pytest_configure(config: pytest.Config) -> None:
    """Let a recorder of this run's own listen in."""
    config.pluginmanager.register(RequirementRecorder(config), "requirement-recorder")


def is_complete(config: pytest.Config) -> bool:
    """Whether this run takes in the whole suite: no path, name or option picked some of the tests."""
    selected = any(config.getoption(option, None) for option in _SELECTING)
    everything = {(config.rootpath / path).resolve() for path in config.getini("testpaths")}
    asked = {(config.invocation_params.dir / path).resolve() for path in config.args}
    return not selected and asked == everything and config.getoption("markexpr") in COMPLETE_MARKS


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Put the record in its place in one step, so that a reader never meets half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    draft.replace(path)


def _marks(item: pytest.Item) -> list[tuple[str, str]]:
    return [(str(name), str(mark.kwargs.get("case", ""))) for mark in item.iter_markers("req") for name in mark.args]


def _worst(before: Outcome | None, now: Outcome) -> Outcome:
    order: list[Outcome] = ["passed", "skipped", "failed"]
    return max(before or "passed", now, key=order.index)


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
