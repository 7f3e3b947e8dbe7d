"""Questions about pictures and texts: what a system answers, against the answers of people (T-20)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from basanite import __version__
from basanite.figures import Extract
from basanite.formats.items import Items
from basanite.formats.questions.question import (
    CHOICE,
    FIRST_SQUAD,
    NUMBER,
    RULES,
    SECOND_SQUAD,
    VQA_RULE,
    Question,
    option_of,
)
from basanite.formats.questions.question_files import read_answers, read_questions
from basanite.formats.questions.vqa_files import FACTORS
from basanite.formats.records import Place
from basanite.metrics.text.questions import ACCURACY, METRICS, Answers, answer_rows, metrics_of, number_in
from basanite.problems import Findings, Problem
from basanite.tasks import AnswerFormat, Setting, Task
from basanite.tasks.explanations.questions import EXPLANATIONS
from basanite.tasks.items import Counted, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved_units import moved_figures
from basanite.tasks.settings import number_from_0, one_of

RULE = "T-20"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = ("image", "article", "document")
AUTO = "auto"
IN_WORDS: Mapping[str, str] = {
    VQA_RULE: "an answer counts by how many people gave it, as VQA's evaluation counts (rule=vqa)",
    FIRST_SQUAD: "an answer is right if it has the words of one of people's, as in SQuAD 1.1 (rule=squad1)",
    SECOND_SQUAD: "an answer is right if it has the words of one of people's, as in SQuAD 2.0 (rule=squad2)",
    CHOICE: "an answer is right if it names the right option (rule=choice)",
    NUMBER: "an answer is right if it is the right number (rule=number)",
}
SHOWN_ANSWERS = 10


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """VQA's annotations, perhaps with its questions; a data set of SQuAD; or records."""
    return read_questions(paths, REFERENCE, findings)


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """VQA's results, SQuAD's predictions, or records."""
    return read_answers(path, SUBMISSION, findings)


def rule_of(questions: Sequence[Question], settings: Settings) -> str:
    """The rule that was set, or the one that goes with the file."""
    return str(questions[0].rule if settings["rule"] == AUTO else settings["rule"])


def check(pairs: Pairs, settings: Settings, findings: Findings) -> None:
    """Refuse questions that a rule cannot count, and say how many answers name no option."""
    rule = rule_of(pairs.references, settings)
    if rule != SECOND_SQUAD:
        findings.extend(_unanswerable(pairs, rule))
    if rule == CHOICE:
        findings.extend(_beside_the_options(pairs))
    if rule == NUMBER:
        findings.extend(_without_numbers(pairs))


def _unanswerable(pairs: Pairs, rule: str) -> Iterator[Problem]:
    for name, question in zip(pairs.units, pairs.references, strict=True):
        if not question.accepted:
            message, fix = (
                f"question {name!r} has no answer",
                f"give it one; rule={rule} knows no unanswerable questions",
            )
            yield REFERENCE.problem(pairs.files.get("reference", ""), None, message, fix, name)


def _without_numbers(pairs: Pairs) -> Iterator[Problem]:
    """Right answers that are no numbers are refused; answers that are none are wrong, and counted."""
    for name, question in zip(pairs.units, pairs.references, strict=True):
        wrong = [text for text in question.accepted if number_in(text) is None]
        if wrong:
            message, fix = f"the answer to question {name!r} is no number", "write a number like 12.5, 1,250 or 1/8"
            yield REFERENCE.problem(pairs.files.get("reference", ""), None, message, fix, wrong[0])
    stray = [text for text in pairs.answers if number_in(text) is None]
    if stray:
        message = f"{len(stray)} of {len(pairs.units)} answers are no numbers, such as {stray[0][:40]!r}"
        fix = "write the number alone; others count as wrong"
        yield SUBMISSION.problem(pairs.files.get("submission", ""), None, message, fix, stray[0], severity="warn")


def _beside_the_options(pairs: Pairs) -> Iterator[Problem]:
    """Right answers that are no option are refused; answers that are none are wrong, and counted."""
    stray: list[str] = []
    for name, question, answer in zip(pairs.units, pairs.references, pairs.answers, strict=True):
        if question.options is None:
            continue
        for accepted in question.accepted:
            if option_of(accepted, question.options) not in question.options.labels:
                message, fix = (
                    f"the answer to question {name!r} is none of its choices",
                    "write a label or text of them",
                )
                yield REFERENCE.problem(pairs.files.get("reference", ""), None, message, fix, accepted)
        if option_of(answer, question.options) not in question.options.labels:
            stray.append(answer)
    if stray:
        message = f"{len(stray)} of {len(pairs.units)} answers name none of the choices, such as {stray[0][:40]!r}"
        fix = "write the label of a choice, its text, or its number from 0; others count as wrong"
        yield SUBMISSION.problem(pairs.files.get("submission", ""), None, message, fix, stray[0], severity="warn")


def count(pairs: Pairs, settings: Settings) -> Counted:
    """One table for the metrics of the rule."""
    rule = rule_of(pairs.references, settings)
    given: Sequence[str] = pairs.answers
    accepted = [question.accepted for question in pairs.references]
    if rule == CHOICE:
        options = [question.options for question in pairs.references]
        given = [option_of(answer, offered) for answer, offered in zip(given, options, strict=True)]
        accepted = [tuple(option_of(one, own) for one in all_) for all_, own in zip(accepted, options, strict=True)]
    metrics = metrics_of(rule)
    table = pairs.table(
        ACCURACY.columns, answer_rows(Answers(pairs.units, given, accepted), rule=rule, tolerance=settings["tolerance"])
    )
    sizes = {len(answers) for answers in accepted}
    near = f"|tolerance:{settings['tolerance']:g}" if rule == NUMBER and settings["tolerance"] else ""
    people = f"answers: {'..'.join(str(size) for size in sorted({min(sizes), max(sizes)}))} a question"
    return Counted(
        metrics,
        dict.fromkeys((metric.name for metric in metrics), table),
        notes=(IN_WORDS[rule],),
        signatures={
            metric.name: f"{metric.name}|rule:{rule}{near}|{people}|basanite:{__version__}" for metric in metrics
        },
    )


def extracts(question: Question, answers: Mapping[str, str]) -> tuple[Extract, ...]:
    """The question, the answers that count as right, and what each system said."""
    right = dict.fromkeys(question.accepted)
    more = f" … and {len(right) - SHOWN_ANSWERS} more" if len(right) > SHOWN_ANSWERS else ""
    asked = [Extract("Question", ((question.text, ""),))] if question.text else []
    said = (
        Extract(name, ((text or "(nothing)", "" if text in right else "changed"),)) for name, text in answers.items()
    )
    listed = " | ".join(list(right)[:SHOWN_ANSWERS]) + more
    return *asked, Extract("Reference", ((listed or "(no answer)", ""),)), *said


SPEC = ItemSpec(
    name="questions",
    unit="question",
    rule=RULE,
    primary=ACCURACY.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    clusters=CLUSTERS,
    factors=FACTORS,
    check=check,
)

TASK = Task(
    name="questions",
    summary="Question answering about pictures and texts: answers scored against human answers or options",
    citation=ACCURACY.citation,
    unit="question",
    primary=ACCURACY.name,
    metrics=METRICS,
    open=opener(SPEC),
    settings=(
        Setting(
            "rule",
            f"When an answer is correct: {', '.join(RULES)}, or auto (as the data set of the reference has it).",
            partial(one_of, (AUTO, *RULES)),
            AUTO,
        ),
        Setting("tolerance", "How far an answer may be from the right number (rule=number).", number_from_0, 0.0),
    ),
    several_references=True,
    compared_figures=moved_figures(extracts),
    explanations=EXPLANATIONS,
    answers=AnswerFormat(
        "One answer for each question, as the results file of VQA, as the predictions of SQuAD, or as "
        "JSON lines, CSV or TSV with `id` and `answer`.",
        example=('[\n{\n"question_id": 10,\n"answer": "1"\n},\n'),
    ),
)
