"""`basanite admin reading questions`, `answer`, `adjudicate` and the like: people's part, by command (R-38)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.desk import (
    AdminOptions,
    admin_options,
    at_desk,
    campaign_option,
    refusals,
    show,
    table,
    the_campaign,
)
from basanite.cli.office import open_office
from basanite.cli.options import PATH, example
from basanite.errors import SettingError

if TYPE_CHECKING:
    from basanite.campaign.store.tables import ReadingPackage, ReadingRun
    from basanite.cli.admin.desk import Desk

NEWEST = "newest"
ADJUDICATES = frozenset({"adjudicator", "evaluation", "administrator"})


@click.command("questions", epilog=example("basanite admin reading questions --data season"))
@campaign_option
@admin_options
def questions(campaign: str, admin: AdminOptions) -> None:
    """List the tasks whose questions people answer."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import people

        found = people.human_tasks(desk.session, the_campaign(desk, campaign).row.id)
        rows = [
            {"task": one.id, "part": one.part, "documents": one.documents, "queries": len(one.queries)} for one in found
        ]
    columns = ["task", "part", "documents", "queries"]
    show({"tasks": rows}, table(rows, columns, empty="There is no formal task yet."), json=admin.as_json)


@click.command(
    "answer", epilog=example("basanite admin reading answer newest mine.ndjson --as eva@people.example --data season")
)
@click.argument("task")
@click.argument("answers", type=PATH)
@click.option("--done", is_flag=True, help="Nothing more is to be said to the questions that the file answers.")
@campaign_option
@admin_options
def answer(task: str, answers: Path, done: bool, campaign: str, admin: AdminOptions) -> None:
    """Give the answers of a person (--as) to the questions of TASK (`newest`: the last one): a file as `score --human`
    reads it.

    Each answer is checked as on the page. Either all are kept, or none.
    """
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import people

        run = _run(desk, campaign, task, admin)
        answered = set()
        for line, record in _records(answers):
            people.give(desk.session, desk.office, run, *_reply(record, line))
            answered.add((str(record["document"]), str(record["query"])))
        for document, query in sorted(answered) if done else ():
            people.finish_question(desk.session, desk.office, run, document, query)
        place = people.place(desk.session, desk.office, run)
    told = {"run": run.id, "questions": len(answered), "finished": place.done, "of": place.of}
    show(
        told, [f"{len(answered)} questions are answered; {place.done} of {place.of} are finished."], json=admin.as_json
    )


@click.command(
    "finish", epilog=example("basanite admin reading finish newest --query games --as eva@people.example --data season")
)
@click.argument("task")
@click.option("--document", default="", help="Only questions about this document.")
@click.option("--query", default="", help="Only this question.")
@campaign_option
@admin_options
def finish(task: str, document: str, query: str, campaign: str, admin: AdminOptions) -> None:
    """Say for a person (--as) that there is nothing more to answer to questions of TASK."""
    with at_desk(admin) as desk:
        from basanite.campaign.store.tables import ReadingTaskRow
        from basanite.campaign.work.reading import people
        from basanite.campaign.work.reading.packages import corpus, find

        run = _run(desk, campaign, task, admin)
        row = desk.session.get_one(ReadingTaskRow, run.reading_task_id)
        texts = corpus(desk.office, find(desk.session, run.campaign_id, run.reading_package_id))
        wanted = [pair for pair in people.pairs(texts, row) if document in ("", pair[0]) and query in ("", pair[1])]
        if not wanted:
            raise SettingError(
                "The task has no such question. `reading questions` lists tasks, `generate` their queries."
            )
        for pair in wanted:
            people.finish_question(desk.session, desk.office, run, *pair)
        place = people.place(desk.session, desk.office, run)
    show(
        {"run": run.id, "finished": place.done, "of": place.of},
        [f"{place.done} of {place.of} questions are finished."],
        json=admin.as_json,
    )


@click.command("adjudicate", epilog=example("basanite admin reading adjudicate nfl-scoring --data season"))
@click.argument("name")
@click.option("--answer", "pool_id", default="", help="This answer; without it, the first that waits.")
@campaign_option
@admin_options
def adjudicate(name: str, pool_id: str, campaign: str, admin: AdminOptions) -> None:
    """Show the next answer about the package NAME that waits for a decision, blind to who gave it."""
    with at_desk(admin) as desk:
        package = _package(desk, campaign, name, admin)
        data = _case(desk, package, pool_id)
    show(data, _case_lines(data), json=admin.as_json)


@click.command(
    "decide",
    epilog=example("basanite admin reading decide nfl-scoring next wrong --seen 0 --data season"),
)
@click.argument("name")
@click.argument("pool_id", metavar="ANSWER")
@click.argument("verdict", metavar="VERDICT")
@click.option("--seen", type=click.IntRange(0), required=True, help="How many decisions you saw: `adjudicate` says it.")
@click.option("--same-as", default="", help="The answer that it duplicates, for duplicate-of.")
@click.option("--why", default="", help="Why; it is logged, and stands in the gold.")
@campaign_option
@admin_options
def decide(name: str, pool_id: str, verdict: str, campaign: str, admin: AdminOptions, **ruling: Any) -> None:
    """Decide about an ANSWER (`next`: the first that waits) of the package NAME.

    Verdicts are right-explicit, right-inferred, wrong, out-of-scope and duplicate-of.
    """
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import adjudication

        package = _package(desk, campaign, name, admin)
        case = _case(desk, package, "" if pool_id == "next" else pool_id)
        pool_id, after = str(case.get("answer", pool_id)), str(case.get("next", ""))
        given = adjudication.Ruling(verdict, ruling["seen"], ruling["same_as"], ruling["why"])
        adjudication.decide(desk.session, desk.office, desk.actor, package.campaign_id, pool_id, given)
        data = _case(desk, package, after)
    show({"decided": pool_id, "verdict": verdict, "waiting": data["waiting"], "next": after},
         [f"Decided: {verdict}. {data['waiting']} answers wait."], json=admin.as_json)  # fmt: skip


@click.command("reopen", epilog=example("basanite admin reading reopen nfl-scoring last --data season"))
@click.argument("name")
@click.argument("pool_id", metavar="ANSWER")
@click.option("--why", default="", help="Why; it is logged.")
@campaign_option
@admin_options
def reopen(name: str, pool_id: str, why: str, campaign: str, admin: AdminOptions) -> None:
    """Open an ANSWER (`last`: the one that was decided last) again; the decision stays in its history."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import adjudication

        package = _package(desk, campaign, name, admin)
        pool_id = _last_decided(desk, package) if pool_id == "last" else pool_id
        _case(desk, package, pool_id)
        adjudication.reopen(desk.session, desk.office, desk.actor, package.campaign_id, pool_id, why=why)
    show({"reopened": pool_id}, ["The answer is open again."], json=admin.as_json)


@click.command(
    "retract", epilog=example("basanite admin reading retract newest last --as eva@people.example --data season")
)
@click.argument("task")
@click.argument("answer_id", metavar="ANSWER")
@campaign_option
@admin_options
def retract(task: str, answer_id: str, campaign: str, admin: AdminOptions) -> None:
    """Withdraw an ANSWER of a person (--as) to TASK (`last`: the newest); it stays in the log and no longer counts."""
    with at_desk(admin) as desk:
        from basanite.campaign.model.refusals import missing
        from basanite.campaign.work.reading import people, runs

        run = _run(desk, campaign, task, admin)
        given = [received.id for received, _ in runs.answers(desk.session, run)]
        if not given:
            raise missing("answer")
        found = max(runs.answers(desk.session, run), key=lambda pair: pair[0].sequence)[0].id
        chosen = found if answer_id == "last" else answer_id
        people.take_back(desk.session, desk.office, run, chosen)
        left = len(runs.answers(desk.session, run))
    show({"withdrawn": chosen, "answers": left}, [f"The answer is withdrawn; {left} are left."], json=admin.as_json)


@click.command("adaptation", epilog=example("basanite admin reading adaptation newest --data season"))
@click.argument("task")
@click.option("--metric", default="f", show_default=True, help="The value that is drawn.")
@click.option("--out", type=PATH, help="Also write the report there, with its chart (.html, .md or another ending).")
@campaign_option
@admin_options
def adaptation(task: str, metric: str, out: Path | None, campaign: str, admin: AdminOptions) -> None:
    """Set what runs on TASK (`newest`: the last one) score against the work that teams logged for them."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import people

        plan, actor = the_campaign(desk, campaign), desk.actor
        newest = next(iter(people.human_tasks(desk.session, plan.row.id)), None)
        chosen = newest.id if task == NEWEST and newest is not None else task
    with refusals(json=admin.as_json), open_office(admin.data) as office:
        from basanite.campaign.model.policy import Viewer
        from basanite.campaign.work.reading import efforts
        from basanite.reading.adaptation import adaptation_object, adaptation_report
        from basanite.reports.report import write

        viewer = Viewer(actor.id, frozenset({"evaluation"}), campaign=plan.row.id)
        found = efforts.adapted_runs(office, actor, viewer, plan.row.id, chosen, metric=metric)
        report = adaptation_report(plan.campaign.title, metric, found)
        if out is not None:
            write(report, out)
    data: dict[str, Any] = adaptation_object(metric, found)
    lines = table(data["runs"], ["system", "run", "hours", "rules", "examples", "value"], empty="There is no run yet.")
    show(data, lines, json=admin.as_json)


COMMANDS = (questions, answer, finish, retract, adjudicate, decide, reopen, adaptation)


def _last_decided(desk: Desk, package: ReadingPackage) -> str:
    from basanite.campaign.model.refusals import missing
    from basanite.campaign.work.reading.pool import standing_answers

    found = sorted(standing_answers(desk.session, package.id), key=lambda one: (one.at, one.id))
    if not found:
        raise missing("decided answer")
    return found[-1].id


def _run(desk: Desk, campaign: str, task: str, admin: AdminOptions) -> ReadingRun:
    from basanite.campaign.work.reading import people

    if not admin.mail:
        raise SettingError("Whose answers are these? Name the person: --as MAIL.")
    campaign_id = the_campaign(desk, campaign).row.id
    if task == NEWEST:
        task = next((one.id for one in people.human_tasks(desk.session, campaign_id)), task)
    return people.sit_down(desk.session, desk.office, desk.actor, campaign_id, task)


def _package(desk: Desk, campaign: str, name: str, admin: AdminOptions) -> ReadingPackage:
    """The package, if the person who is named adjudicates; who runs the machine needs no name."""
    from basanite.campaign.model.refusals import missing
    from basanite.campaign.people.roles import viewer
    from basanite.campaign.work.reading.packages import find

    package = find(desk.session, the_campaign(desk, campaign).row.id, name)
    if admin.mail and not viewer(desk.session, package.campaign_id, desk.actor.id).roles & ADJUDICATES:
        raise missing("package")
    return package


def _records(path: Path) -> list[tuple[int, dict[str, Any]]]:
    from basanite.errors import InvalidInputError
    from basanite.problems import Findings
    from basanite.reading.package.ndjson import LineFaults, records

    findings = Findings()
    found = list(records(path, LineFaults(path.name, "R-18", findings)))
    if not findings.valid:
        raise InvalidInputError("reading", findings)
    return found


def _reply(record: dict[str, Any], line: int) -> tuple[str, str, Any]:
    from basanite.campaign.model.refusals import refused
    from basanite.campaign.work.reading import people

    try:
        told = {
            name.removeprefix("?"): [str(one) for one in (bound if isinstance(bound, list) else [bound])]
            for name, bound in record["answer"].items()
        }
        pieces = [(int(piece["start"]), int(piece["end"])) for piece in record.get("provenance", ())]
        reply = people.Reply(told, str(record.get("kind", "explicit")), pieces)
        return str(record["document"]), str(record["query"]), reply
    except (AttributeError, KeyError, TypeError, ValueError):
        fix = 'write "query", "document", "answer" and "provenance" with start and end, as in a file of answers'
        raise refused("R-18", f"line {line} is no answer", fix, status=422) from None


def _case(desk: Desk, package: ReadingPackage, pool_id: str) -> dict[str, Any]:
    from basanite.campaign.work.reading import adjudication

    found = adjudication.case(desk.session, desk.office, package.campaign_id, package.id, pool_id)
    state = found if isinstance(found, adjudication.Progress) else found.progress
    data: dict[str, Any] = {"waiting": len(state.waiting), "decided": state.decided, "known": state.known}
    if isinstance(found, adjudication.Progress):
        return data
    return data | {
        "answer": found.id,
        "query": found.asked.id,
        "question": found.asked.question,
        "document": found.document.name,
        "values": {f"?{name}": list(told) for name, told in found.values},
        "kind": found.kind,
        "excerpts": [{"start": one.start, "end": one.end, "exact": one.exact} for one in found.excerpts],
        "beside": [
            {"id": one.id, "values": {f"?{name}": list(told) for name, told in one.values}, "verdict": one.verdict}
            for one in found.beside
        ],
        "seen": len(found.history),
        "next": found.after,
    }


def _case_lines(data: dict[str, Any]) -> list[str]:
    state = f"{data['waiting']} answers wait, {data['decided']} are decided, the gold knew {data['known']}."
    if "answer" not in data:
        return [state]
    values = ", ".join(f"{name} = {' | '.join(told)}" for name, told in data["values"].items())
    words = [f"  {one['start']}-{one['end']}: {one['exact']}" for one in data["excerpts"]]
    beside = [
        f"  {one['id']}: "
        + ", ".join(" | ".join(told) for told in one["values"].values())
        + f" ({one['verdict'] or 'open'})"
        for one in data["beside"]
    ]
    return [
        f"{data['answer']} (seen: {data['seen']})",
        f"{data['document']}: {data['question']}",
        f"{values} ({data['kind']})",
        *(["It rests on:", *words] if words else []),
        *(["Beside it:", *beside] if beside else []),
        state,
    ]
