"""`basanite demo --offline`: a made-up evaluation, taken from files to a report by the functions that users call."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

import click

from basanite import spine
from basanite.analysis.results import Analysis, Comparison
from basanite.cli.demo.reading import show_reading
from basanite.cli.options import problem_line, show_report
from basanite.demo.runs import spoilt
from basanite.errors import SettingError, UnreadableError
from basanite.interface import Work
from basanite.problems import visible
from basanite.reports.model import Report
from basanite.reports.outputs import write
from basanite.reports.wording import number, percent, plural
from basanite.synthetic.clir import (
    Quality,
    Spec,
    system_members,
    write_key,
    write_lists,
    write_members,
    write_metadata,
    write_system,
)
from basanite.synthetic.identification import domains, write_answers, write_truth
from basanite.synthetic.summaries import Summarised, write_judgements, write_summaries
from basanite.tasks import Inputs

Say: TypeAlias = Callable[[str], None]

DEFAULT = Path("build/demo")
MARKER = ".basanite-demo"
"""A folder with this file was made by the demo; the file lists what else was."""
SPEC = Spec(queries=60, documents=400, seed=7)
SYSTEMS: Mapping[Quality, str] = {
    Quality("Alpha", 9.0): "a good system whose threshold is well set",
    Quality("Beta", 6.0): "a weaker system with a well set threshold",
    Quality("Gamma", 9.0, bias=-2.6): "ranks as well as Alpha, but its threshold is far too low",
}

SUMMARISED = Summarised(Spec(queries=30, documents=100, seed=7), Quality("Delta", 9.0))
DOMAINS = Spec(queries=0, documents=200, seed=7)
IDENTIFIER = Quality("Epsilon", 5.0)


def show_tour(out: Path, *, json: bool) -> None:
    """Walk through all steps in a folder of the tour's own; each is told together with the command that does it."""
    words = partial(tell, aside=json)
    with_draft(out, lambda draft: Tour(draft, out, words).walk(json=json))
    if not json:
        tell(f"Done. Open this page in a browser: {(out / 'comparison.html').resolve()}")


def tell(words: str, *, aside: bool = False) -> None:
    """Say something to whoever is being shown around; aside where the result goes to a program."""
    click.echo("\n".join(map(visible, words.split("\n"))), err=aside)


@dataclass
class Tour:
    """The steps of the demo: it works in `folder` and talks of `out`, where the files lie in the end."""

    folder: Path
    out: Path
    say: Say
    work: Work = field(default_factory=lambda: Work("clir", {}))

    def walk(self, *, json: bool) -> None:
        """Take all steps, in the order of a real evaluation."""
        self.make_data()
        self.show_mistakes()
        self.check_submissions()
        analyses = [self.scored(quality) for quality in SYSTEMS]
        report = self.compared(self.work.comparison(analyses))
        self.summarised()
        self.identified()
        show_reading(self)
        if json:
            show_report(report, json=True)

    def make_data(self) -> None:
        """Write key, lists, factors and the three submissions."""
        size = f"{plural('query', SPEC.queries)}, {plural('document', SPEC.documents)}"
        self.say(f"1. A made-up evaluation: {size}, three systems. Its files are in {self.out}:")
        write_key(SPEC, self.folder / "key")
        write_lists(SPEC, self.folder)
        write_metadata(SPEC, self.folder / "metadata")
        for quality, words in SYSTEMS.items():
            write_system(SPEC, quality, self.folder / f"{quality.label}.tgz")
            self.say(f"   {quality.label + '.tgz':<11}{words}")
        self.say("   key/       the truth; metadata/ what is known about documents and queries")

    def show_mistakes(self) -> None:
        """Validate Alpha's answers with three mistakes in them."""
        self.say("\n2. A submission with mistakes. Teams can check theirs without the key, from the lists alone:")
        self.command("validate", "clir", submission="broken", documents="documents.txt", queries="queries.txt")
        broken, lists = self.folder / "broken", (self.folder / "documents.txt", self.folder / "queries.txt")
        write_members(spoilt(dict(system_members(SPEC, next(iter(SYSTEMS))))).items(), broken)
        for problem in self.work.findings(Inputs(broken, None, *lists)):
            self.say(f"   {problem_line(problem)}")

    def check_submissions(self) -> None:
        """Validate the three submissions."""
        self.say("\n3. The three submissions are checked before they are scored:")
        for quality in SYSTEMS:
            name = f"{quality.label}.tgz"
            self.command("validate", "clir", submission=name, reference="key")
            valid = self.work.findings(Inputs(self.folder / name, self.folder / "key")).valid
            self.say(f"   {name} is {'valid' if valid else 'not valid'}.")
        self.say("\n4. Each is scored, with intervals and breakdowns:")

    def scored(self, quality: Quality) -> Analysis:
        """Score one system and write its report."""
        factors = ("metadata/documents.tsv", "metadata/queries.tsv")
        name, page = f"{quality.label}.tgz", f"{quality.label}.html"
        self.command("score", "clir", reference="key", submission=name, metadata=factors, report=page)
        tables = tuple(self.folder / table for table in factors)
        inputs = Inputs(self.folder / name, self.folder / "key", metadata=tables)
        analysis = self.work.analysis(inputs, system=quality.label)
        write(spine.report(self.work.task, analysis), self.folder / page)
        self.say(f"   {in_words(analysis)}")
        return analysis

    def compared(self, comparison: Comparison) -> Report:
        """Compare all systems and write the report."""
        self.say("\n5. Which of them differ? All three are compared, and the tests adjusted for all pairs:")
        names = tuple(f"{quality.label}.tgz" for quality in SYSTEMS)
        factors = ("metadata/documents.tsv", "metadata/queries.tsv")
        self.command("compare", "clir", reference="key", submission=names, metadata=factors, report="comparison.html")
        report = spine.compare_report(self.work.task, comparison)
        write(report, self.folder / "comparison.html")
        for sentence in report.sentences:
            self.say(f"   {sentence}")
        return report

    def summarised(self) -> None:
        """Check and score a system that returns summaries, with what judges said of them."""
        self.say("\n6. End to end: a system that returns summaries counts only as far as judges of them confirm it:")
        label, folder = SUMMARISED.quality.label, self.folder / "e2e"
        write_key(SUMMARISED.spec, folder / "key")
        write_summaries(SUMMARISED, folder / f"{label}.tgz")
        write_judgements(SUMMARISED, folder / "judgements.tsv")
        self.checked_and_scored("e2e", label, judgements="judgements.tsv")

    def identified(self) -> None:
        """Check and score a system that tells the domains of documents."""
        self.say("\n7. DomainID: which documents belong to each domain? Every domain is scored by itself:")
        truth = domains(DOMAINS)
        write_truth(truth, self.folder / "domainid" / "key")
        write_answers(truth, IDENTIFIER, self.folder / "domainid" / f"{IDENTIFIER.label}.tgz")
        self.checked_and_scored("domainid", IDENTIFIER.label)
        self.say("")

    def checked_and_scored(self, task: str, label: str, *, judgements: str | None = None) -> None:
        """Validate and score one submission in a folder of its task's name, and write its report."""
        names = {"reference": f"{task}/key", "submission": f"{task}/{label}.tgz"}
        names |= {} if judgements is None else {"judgements": f"{task}/{judgements}"}
        page, work = f"{task}.html", Work(task, {})
        paths = {role: self.folder / name for role, name in names.items()}
        inputs = Inputs(paths["submission"], paths["reference"], judgements=paths.get("judgements"))
        self.command("validate", task, **names)
        self.say(f"   {label}.tgz is {'valid' if work.findings(inputs).valid else 'not valid'}.")
        self.command("score", task, **names, report=page)
        report = spine.report(work.task, work.analysis(inputs, system=label))
        write(report, self.folder / page)
        self.say(f"   {report.sentences[0]}")
        self.say(f"   The report is in {self.out / page}.")

    def command(self, *words: str, **paths: str | tuple[str, ...]) -> None:
        """Show the command that does by hand what follows."""
        options: list[str] = []
        for option, names in paths.items():
            for name in (names,) if isinstance(names, str) else names:
                options += [f"--{option}", str(self.out / name)]
        self.say(f"   $ {shlex.join(['basanite', *words, *options])}")


def in_words(analysis: Analysis) -> str:
    """The primary value, and what a better threshold could have added."""
    value, best = analysis.values["aqwv"], analysis.values["mqwv"]
    low, high = number(value.low), number(value.high)
    interval = f"{percent(analysis.design.level)} interval {low} to {high}"
    return (
        f"{analysis.scores.system}: AQWV {number(value.value)} ({interval}); "
        f"with the best threshold it would be {number(best.value)}."
    )


def check_replaceable(out: Path) -> None:
    """Refuse a folder that an earlier demo did not make, or that holds anything else by now."""
    if not os.path.lexists(out):
        return
    if out.is_symlink() or not out.is_dir() or Path.cwd().is_relative_to(out.resolve()):
        raise SettingError(f"{out} is not a folder that can be replaced. Choose another with --out.")
    here, made = listed_files(out), made_before(out)
    if here and not made:
        raise SettingError(f"{out} was not made by the demo, so it is left alone. Choose another with --out.")
    others = sorted(here - made)
    if others:
        raise SettingError(f"{out} holds what the demo did not make ({others[0]}), so it is left alone. Use --out.")


def made_before(out: Path) -> set[str]:
    """The files that an earlier demo made in a folder; none if it was not made by the demo."""
    marker = out / MARKER
    if marker.is_symlink() or not marker.is_file():
        return set()
    return {MARKER, *marker.read_text(encoding="utf-8", errors="replace").splitlines()}


def listed_files(folder: Path) -> set[str]:
    """All files and links below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


def with_draft(out: Path, make: Callable[[Path], None]) -> None:
    """Make a folder beside its place, and put it there when it is whole."""
    try:
        check_replaceable(out)
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as space:
            draft = Path(space) / "demo"
            draft.mkdir()
            make(draft)
            (draft / MARKER).write_text("\n".join(sorted(listed_files(draft))) + "\n", encoding="utf-8")
            check_replaceable(out)
            if out.exists():
                shutil.rmtree(out)
            draft.replace(out)
    except OSError as error:
        raise UnreadableError(f"{out} cannot be made: {error.strerror}. Choose another folder with --out.") from error
