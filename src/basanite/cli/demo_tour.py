"""The demo without a server: systems made up, scored and compared; and the part on machine reading.

Machine reading needs the example of football reports, which lies in the source tree and in the wheel, and the extra
`reading`. Where one of them is missing, the demo says so and goes on.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import click

from basanite.analysis.results import Analysis, Comparison
from basanite.cli.options import problem_line, show_report
from basanite.demo.files import examples, lacking, spoilt
from basanite.errors import SettingError, UnreadableError
from basanite.problems import visible
from basanite.reports.report import Report, write
from basanite.reports.wording import number, percent, plural
from basanite.scoring import Scorer, build_comparison_report, build_report
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

if TYPE_CHECKING:
    from basanite.reading.reasoner.session import Session


PACKAGE: Final = "reading/nfl"
RULES: Final = f"{PACKAGE}/rules/scoring.rules"
ANNOTATIONS: Final = f"{PACKAGE}/annotations/train.ndjson"
DOCUMENT: Final = "nfl-013"
DERIVED: Final = "game-013 gameWinner LosAngelesChargers"
WRONG: Final = ("nfl:game-013", "nfl:numberOfPeriods", "4")


class Guide(Protocol):
    """Anyone who shows around: works in `folder`, talks of `out`, and tells commands."""

    folder: Path
    out: Path

    def say(self, words: str, /) -> None:
        """Say something."""

    def command(self, *words: str, **paths: str | tuple[str, ...]) -> None:
        """Show the command that does by hand what follows."""


def show_reading(guide: Guide) -> None:
    """Score the example's baseline against people, then show a derivation and a contradiction."""
    guide.say("8. Machine reading: what do reports of football games say, and what follows from it?")
    example, reason = examples(), lacking()
    if reason or example is None:
        guide.say(f"   Left out: {reason}\n")
    else:
        shutil.copytree(example.package, guide.folder / PACKAGE)
        _score(guide)
        _derivation(guide)
        _contradiction(guide)
        guide.say("")


def _score(guide: Guide) -> None:
    """Score the answers of the baseline beside those that stand for people's."""
    page = "reading.html"
    names = {
        role: f"{PACKAGE}/answers/{name}.ndjson" for role, name in (("submission", "baseline"), ("human", "human"))
    }
    guide.command("score", "reading", reference=PACKAGE, **names, report=page)
    paths = {role: guide.folder / name for role, name in names.items()}
    scorer = Scorer("reading", {})
    inputs = Inputs(paths["submission"], guide.folder / PACKAGE, human=paths["human"])
    report = build_report(scorer.task, scorer.analysis(inputs, system="baseline"))
    write(report, guide.folder / page)
    guide.say(f"   {report.sentences[0]}")
    guide.say("   pr is the machine's F over that of people, who are made up here: 1 would be as good.")
    guide.say(f"   The report is in {guide.out / page}.")


def _derivation(guide: Guide) -> None:
    """Show how the winner of a game follows from words that never name one."""
    guide.say("   One report never says who won. How is it known?")
    asked = {"statements": ANNOTATIONS, "documents": f"{PACKAGE}/corpus", "out": "why.html"}
    words = ("--document", DOCUMENT, "--statement", DERIVED)
    guide.command("reading", "explain", str(guide.out / RULES), *words, **asked)
    _explain(guide, _session(guide, ANNOTATIONS), DERIVED, asked["out"])


def _contradiction(guide: Guide) -> None:
    """Add a statement that cannot be, and show what is wrong with it."""
    guide.say("   It mentions sudden death. Let a reader claim four periods, and the rules object:")
    claimed = "reading/four-periods.ndjson"
    _write_claim(guide.folder / ANNOTATIONS, guide.folder / claimed)
    asked = {"statements": claimed, "documents": f"{PACKAGE}/corpus", "out": "contradiction.html"}
    guide.command("reading", "explain", str(guide.out / RULES), **asked)
    _explain(guide, _session(guide, claimed), None, asked["out"])


def _write_claim(annotations: Path, out: Path) -> None:
    """The annotations of one report, and a wrong statement after them."""
    lines = annotations.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if json.loads(line)["document"] == DOCUMENT]
    wrong: dict[str, Any] = {"document": DOCUMENT, "statement": WRONG, "kind": "explicit", "provenance": []}
    out.write_text("\n".join((*kept, json.dumps(wrong))) + "\n", encoding="utf-8")


def _session(guide: Guide, statements: str) -> Session:
    from basanite.errors import InvalidInputError
    from basanite.problems import Findings
    from basanite.reading.limits import Limits
    from basanite.reading.reasoner.session import Choice, open_session

    findings = Findings()
    choice = Choice((guide.folder / RULES,), guide.folder / statements, document=DOCUMENT)
    session = open_session(choice, findings, limits=Limits())
    if session is None:
        raise InvalidInputError("reading", findings)
    return session


def _explain(guide: Guide, session: Session, statement: str | None, page: str) -> None:
    """Write the page that explains, and tell the same in words."""
    from basanite.reading.reasoner import explanation_files as files

    found = files.explanation(session, statement)
    if found is not None:
        out = guide.folder / page
        out.write_bytes(files.explanation_file(session, found, out, guide.folder / PACKAGE / "corpus"))
        for line in files.as_lines(session, found):
            guide.say(f"      {line}")
        guide.say(f"   The page with the words of the report is {guide.out / page}.")


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
    """Say something to the visitor of the tour; aside where the result goes to a program."""
    click.echo("\n".join(map(visible, words.split("\n"))), err=aside)


@dataclass
class Tour:
    """The steps of the demo: it works in `folder` and talks of `out`, where the files lie in the end."""

    folder: Path
    out: Path
    say: Say
    scorer: Scorer = field(default_factory=lambda: Scorer("clir", {}))

    def walk(self, *, json: bool) -> None:
        """Take all steps, in the order of a real evaluation."""
        self.make_data()
        self.show_mistakes()
        self.check_submissions()
        analyses = [self.score_system(quality) for quality in SYSTEMS]
        report = self.report_comparison(self.scorer.comparison(analyses))
        self.show_summaries()
        self.show_identification()
        show_reading(self)
        if json:
            show_report(report, json=True)

    def make_data(self) -> None:
        """Write key, lists, factors and the three submissions."""
        size = f"{plural('query', SPEC.queries)}, {plural('document', SPEC.documents)}"
        self.say(f"1. A synthetic evaluation: {size}, three systems. Its files are in {self.out}:")
        write_key(SPEC, self.folder / "key")
        write_lists(SPEC, self.folder)
        write_metadata(SPEC, self.folder / "metadata")
        for quality, words in SYSTEMS.items():
            write_system(SPEC, quality, self.folder / f"{quality.label}.tgz")
            self.say(f"   {quality.label + '.tgz':<11}{words}")
        self.say("   key/       the reference; metadata/ properties of documents and queries")

    def show_mistakes(self) -> None:
        """Validate Alpha's answers with three mistakes in them."""
        self.say("\n2. A submission with mistakes. Teams can check theirs without the key, from the lists alone:")
        self.command("validate", "clir", submission="broken", documents="documents.txt", queries="queries.txt")
        broken, lists = self.folder / "broken", (self.folder / "documents.txt", self.folder / "queries.txt")
        write_members(spoilt(dict(system_members(SPEC, next(iter(SYSTEMS))))).items(), broken)
        for problem in self.scorer.findings(Inputs(broken, None, *lists)):
            self.say(f"   {problem_line(problem)}")

    def check_submissions(self) -> None:
        """Validate the three submissions."""
        self.say("\n3. The three submissions are checked before they are scored:")
        for quality in SYSTEMS:
            name = f"{quality.label}.tgz"
            self.command("validate", "clir", submission=name, reference="key")
            valid = self.scorer.findings(Inputs(self.folder / name, self.folder / "key")).valid
            self.say(f"   {name} is {'valid' if valid else 'not valid'}.")
        self.say("\n4. Each is scored, with intervals and breakdowns:")

    def score_system(self, quality: Quality) -> Analysis:
        """Score one system and write its report."""
        factors = ("metadata/documents.tsv", "metadata/queries.tsv")
        name, page = f"{quality.label}.tgz", f"{quality.label}.html"
        self.command("score", "clir", reference="key", submission=name, metadata=factors, report=page)
        tables = tuple(self.folder / table for table in factors)
        inputs = Inputs(self.folder / name, self.folder / "key", metadata=tables)
        analysis = self.scorer.analysis(inputs, system=quality.label)
        write(build_report(self.scorer.task, analysis), self.folder / page)
        self.say(f"   {in_words(analysis)}")
        return analysis

    def report_comparison(self, comparison: Comparison) -> Report:
        """Compare all systems and write the report."""
        self.say("\n5. Which of them differ? All three are compared, and the tests adjusted for all pairs:")
        names = tuple(f"{quality.label}.tgz" for quality in SYSTEMS)
        factors = ("metadata/documents.tsv", "metadata/queries.tsv")
        self.command("compare", "clir", reference="key", submission=names, metadata=factors, report="comparison.html")
        report = build_comparison_report(self.scorer.task, comparison)
        write(report, self.folder / "comparison.html")
        for sentence in report.sentences:
            self.say(f"   {sentence}")
        return report

    def show_summaries(self) -> None:
        """Check and score a system that returns summaries, with what judges said of them."""
        self.say("\n6. End to end: a system that returns summaries counts only as far as judges of them confirm it:")
        label, folder = SUMMARISED.quality.label, self.folder / "e2e"
        write_key(SUMMARISED.spec, folder / "key")
        write_summaries(SUMMARISED, folder / f"{label}.tgz")
        write_judgements(SUMMARISED, folder / "judgements.tsv")
        self.check_and_score("e2e", label, judgements="judgements.tsv")

    def show_identification(self) -> None:
        """Check and score a system that tells the domains of documents."""
        self.say("\n7. DomainID: which documents belong to each domain? Every domain is scored separately:")
        truth = domains(DOMAINS)
        write_truth(truth, self.folder / "domainid" / "key")
        write_answers(truth, IDENTIFIER, self.folder / "domainid" / f"{IDENTIFIER.label}.tgz")
        self.check_and_score("domainid", IDENTIFIER.label)
        self.say("")

    def check_and_score(self, task: str, label: str, *, judgements: str | None = None) -> None:
        """Validate and score one submission in a folder of its task's name, and write its report."""
        names = {"reference": f"{task}/key", "submission": f"{task}/{label}.tgz"}
        names |= {} if judgements is None else {"judgements": f"{task}/{judgements}"}
        page, scorer = f"{task}.html", Scorer(task, {})
        paths = {role: self.folder / name for role, name in names.items()}
        inputs = Inputs(paths["submission"], paths["reference"], judgements=paths.get("judgements"))
        self.command("validate", task, **names)
        self.say(f"   {label}.tgz is {'valid' if scorer.findings(inputs).valid else 'not valid'}.")
        self.command("score", task, **names, report=page)
        report = build_report(scorer.task, scorer.analysis(inputs, system=label))
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
