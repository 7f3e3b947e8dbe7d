"""The table of faults in the docs: a pytest plug-in gathers what the fault tests did and saw, a command writes it down.

A test says `@pytest.mark.fault("kill -9 of the database")`, perhaps with several names, and tells through the fixture
`fault` what was done, what became of the submissions, and how long recovery took. At the end of the run the table is
printed, and kept in `build/faults.json`: the last measurement of each fault, so that a run of some tests takes nothing
away. `python -m tools.fault_table` puts it between the two marks in the page; a test sees to it that page and tests
name the same faults.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
RECORD: Final = Path("build/faults.json")
PAGE: Final = Path("docs/explanation/when-it-breaks.md")
TESTS: Final = Path("tests/campaign/faults")
BEGIN: Final = "<!-- the table of faults begins: python -m tools.fault_table writes it -->"
END: Final = "<!-- the table of faults ends -->"
HEAD: Final = ("fault", "what was done", "what became of the work", "recovery")
_NAMES: Final = "fault names"
_SEEN: Final = "fault seen"


@dataclass(frozen=True)
class Seen:
    """One fault as a test saw it; seconds from the end of the fault until all was well."""

    done: str
    became: str
    seconds: float

    def cells(self, name: str) -> tuple[str, ...]:
        """The row of a table."""
        return (name, self.done, self.became, f"{self.seconds:.1f} s")


class FaultRecorder:
    """Gathers faults in the process that sees all reports, also when workers run the tests."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.seen: dict[str, Seen] = {}
        self.not_run: dict[str, str] = {}

    @pytest.hookimpl
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Hang its name on each fault test, for its reports to carry."""
        for item in items:
            if mark := item.get_closest_marker("fault"):
                item.user_properties.append((_NAMES, list(map(str, mark.args))))

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of what a test told, or of why it told nothing."""
        told: list[tuple[str, Any]] = list(report.user_properties)
        names = [name for key, names in told if key == _NAMES for name in names]
        if report.skipped or report.failed:
            reason = _reason(report) if report.skipped else "the test failed"
            self.not_run |= dict.fromkeys(names, reason)
            self.seen = {name: one for name, one in self.seen.items() if name not in names}
        elif report.when == "call":
            self.seen |= {name: Seen(**one) for name, one in _seen_in(told) if name in names}

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of this run, and keep it."""
        if not self.seen and not self.not_run:
            return
        terminalreporter.section("faults")
        for name, one in sorted(self.seen.items()):
            terminalreporter.write_line(f"{name} ({one.seconds:.1f} s)")
            terminalreporter.write_line(f"    {one.done}")
            terminalreporter.write_line(f"    -> {one.became}")
        for name, reason in sorted(self.not_run.items()):
            terminalreporter.write_line(f"{name}: not seen, {reason}")
        keep(self.config.rootpath / RECORD, self.seen)


def _seen_in(told: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """What a test told of its faults, by their names."""
    return (value for key, value in told if key == _SEEN)


def _reason(report: pytest.TestReport) -> str:
    """Why a test was skipped, in its own words."""
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else "skipped"


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, and let a recorder of this run's own listen in."""
    config.addinivalue_line("markers", "fault(*names): something is broken on purpose; `fault` tells what became of it")
    config.pluginmanager.register(FaultRecorder(config), "fault-recorder")


@pytest.fixture
def fault(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Gives a function with which a test tells what it did, what became of the work, and how long recovery took.

    A test of several faults says which by its name.
    """
    mark = request.node.get_closest_marker("fault")

    def tell(name: str = "", *, done: str, became: str, seconds: float) -> None:
        seen = asdict(Seen(done, became, round(seconds, 1)))
        request.node.user_properties.append((_SEEN, [name or mark.args[0], seen]))

    return tell


def keep(path: Path, seen: Mapping[str, Seen]) -> None:
    """Write down what was seen last of each fault."""
    merged = {**kept(path), **seen}
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({name: asdict(one) for name, one in merged.items()}, indent=1, sort_keys=True)
    draft = path.with_suffix(".part")
    draft.write_text(text + "\n", encoding="utf-8")
    draft.replace(path)


def kept(path: Path) -> dict[str, Seen]:
    """What was seen last of each fault; nothing before the first run."""
    if not path.exists():
        return {}
    return {name: Seen(**one) for name, one in json.loads(path.read_text(encoding="utf-8")).items()}


def named_in(folder: Path) -> list[str]:
    """The names of the faults that the tests of a folder make, in the order of the files."""
    return [name for path in sorted(folder.glob("test_*.py")) for name in _marked(ast.parse(path.read_text()))]


def _marked(tree: ast.Module) -> Iterator[str]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    marks = [call for call in calls if ast.unparse(call.func) == "pytest.mark.fault"]
    for call in sorted(marks, key=lambda call: call.lineno):
        yield from map(ast.literal_eval, call.args)


def table(names: list[str], seen: Mapping[str, Seen]) -> str:
    """The table for the page.

    >>> print(table(["a cut"], {"a cut": Seen("cut for 2 s", "1 scored", 3.25)}).splitlines()[2])
    | a cut | cut for 2 s | 1 scored | 3.2 s |
    """
    lines = (HEAD, ("---",) * len(HEAD), *(seen[name].cells(name) for name in names))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def names_on(page: str) -> list[str]:
    """The faults that the table of a page tells of."""
    inside = page.partition(BEGIN)[2].partition(END)[0].strip().splitlines()
    return [line.split("|")[1].strip() for line in inside[2:]]


def written(page: str, rows: str) -> str:
    """The page with another table."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{rows}\n\n{END}{rest.partition(END)[2]}"


def main(root: Path = ROOT) -> int:
    """Write the table into the page; refused while a fault was never measured."""
    names, seen = named_in(root / TESTS), kept(root / RECORD)
    if missing := [name for name in names if name not in seen]:
        print(f"Not measured yet: {', '.join(missing)}. Run: make test-all", file=sys.stderr)
        return 1
    page = root / PAGE
    page.write_text(written(page.read_text(encoding="utf-8"), table(names, seen)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
