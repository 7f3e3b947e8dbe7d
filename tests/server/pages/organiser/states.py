"""Organisers' pages in the states that must look right; `tests/server/pages/states.py` joins them to all others."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup
from tests.server.pages.states import EARLIER, LATER, NOW, PROBLEMS, count, name, row, seen, several

from basanite.campaign.actions.moves import Move
from basanite.campaign.actions.overview import SignedCopy, TeamFacts, Waiting
from basanite.campaign.actions.packs import PackListing
from basanite.campaign.actions.plans import Departing, PlanPreview
from basanite.campaign.model.freeze import Change
from basanite.campaign.people.communication import MailPreview
from basanite.campaign.receipts import Verdict
from basanite.campaign.store.plans import parse_plan
from basanite.campaign.store.tables import Batch, Reference
from basanite.problems import Problem
from basanite.server.pages import (
    organiser_communication,
    organiser_data,
    organiser_edit,
    organiser_frame,
    organiser_home,
    organiser_import,
    organiser_log,
    organiser_people,
    organiser_plan,
    organiser_results,
    organiser_submissions,
    organiser_teams,
)
from basanite.server.pages.templates import Paged
from basanite.server.pages.values import values_of
from basanite.testing import small_campaign_text

CHOICES = (("evaluation", "evaluation team"), ("judge", "judge"))


def paged(state, make):
    """One page of a list, with neighbours where there are many rows."""
    rows = several(state, make, 50)
    return Paged(rows, "/newest", "/older") if state == "many" else Paged(rows)


def named(state, number=1):
    """An id with the name of the state, as choices have it."""
    return f"id{number}", name(state)


def home_page(state):
    def line(s, n):
        states = ("open", "coming", "past")
        return organiser_home.WindowLine(
            f"w{n}", name(s), states[n % 3], EARLIER, LATER, n % 2 == 0, 1200, 3, 1, 2, "To the public"
        )

    waits = Waiting(*([min(count(state), 1)] * 7)) if state != "many" else Waiting(*([count(state)] * 7))
    tasks = several(state, lambda s, n: organiser_home.Task(name(s), name(s), "references"), 200)
    return organiser_home.HomePage(
        "Dashboard", tuple(organiser_home.duties(waits)), several(state, line, 60), 3, ("release",), tasks, 2
    )


def confirm_page(state):
    facts = ((name(state), name(state)),) if count(state) else ()
    words = (name(state),) if count(state) else ()
    return organiser_frame.ConfirmPage(
        name(state),
        words,
        "/act",
        "Open",
        "/back",
        facts,
        given=name(state),
        two=state == "many",
        safe=state == "rtl",
    )


def people_page(state):
    def line(s, n):
        held = (("evaluation", "evaluation team"), ("administrator", "administrator"))[: 1 + n % 2]
        return organiser_people.PersonLine(f"p{n}", name(s), f"{n}@example.org", held, f"t{n}", name(s), n == 1)

    asked = several(
        state,
        lambda s, n: organiser_people.RequestLine(f"r{n}", name(s), "a@example.org", name(s), NOW),
        organiser_people.MOST_REQUESTS,
    )
    gone = several(
        state,
        lambda s, n: organiser_people.ExceptionLine(f"e{n}", name(s), name(s), name(s), NOW, n % 2 == 0, n == 1),
        20,
    )
    return organiser_people.PeoplePage("People", asked, paged(state, line), "", CHOICES, gone, True, "", name(state))


def approvals_page(state):
    def line(s, n):
        return organiser_people.ActLine(
            f"a{n}", "Release", name(s), name(s), name(s), NOW, "agreed" if n % 2 else "refused", name(s), n == 1
        )

    found = several(state, line, organiser_people.SHOWN)
    return organiser_people.ApprovalsPage("Two-person approvals", found[:20], found, ("Release",))


def teams_page(state):
    def line(s, n):
        places = ("active", "merged", "left")
        return organiser_teams.TeamLine(
            f"t{n}", name(s), name(s), name(s), places[n % 3], name(s), 3, n, NOW if n % 2 else None
        )

    near = several(
        state,
        lambda s, n: organiser_teams.NearLine("a", name(s), "b", name(s), name(s), name(s)),
        organiser_teams.MOST_ODD,
    )
    shared = several(
        state, lambda s, n: organiser_teams.SharedLine((name(s), name(s)), (name(s),)), organiser_teams.MOST_ODD
    )
    return organiser_teams.TeamsPage("Teams", paged(state, line), near, shared, (named(state),))


def facts(state):
    place = "merged" if state == "none" else "active"
    return TeamFacts("t", name(state), "Alpha", name(state), name(state), place, "p", 3, count(state), None)


def team_page(state):
    def line(s, n):
        return organiser_teams.MemberLine(f"p{n}", name(s), "a@example.org", name(s), n == 1, n == 2, NOW)

    others = several(state, named)
    return organiser_teams.TeamPage(
        name(state),
        facts(state),
        several(state, line, 300),
        others,
        several(state, named, 60),
        ("CLIR", "E2E"),
        ("1A", "1B"),
        count(state),
    )


def windows_page(state):
    cards = several(
        state,
        lambda s, n: organiser_plan.WindowCard(
            row(s, n, ("open", "coming", "past")[n % 3]), "named", NOW, "2018-04-09T00:00"
        ),
        60,
    )
    stones = several(
        state, lambda s, n: organiser_plan.StoneCard(f"m{n}", name(s), NOW, name(s), name(s), "done", name(s)), 300
    )
    states = (("planned", "planned"), ("done", "done"))
    return organiser_plan.WindowsPage(
        "Windows", cards, stones, states, "America/New_York", "w1", "2018-05-01 10:00", name(state)
    )


def change_line(state, how="changed"):
    return organiser_plan.ChangeLine(how, name(state), (organiser_plan.Fact(name(state), name(state), name(state)),))


def small_plan():
    return parse_plan(small_campaign_text())


def file_page(state):
    changes = tuple(Change(f"windows.dev.{n}", 1, name(state)) for n in range(min(count(state), 1000)))
    gone = (Departing("dev", name(state), changes[:3], state == "error"),) if changes else ()
    found = None if state == "none" else PlanPreview("d" * 64, changes, gone if state != "rtl" else (), small_plan())
    versions = several(
        state, lambda s, n: organiser_plan.VersionLine(n, "d" * 64, NOW, name(s), name(s)), organiser_plan.SHOWN
    )
    lines = several(
        state,
        lambda s, n: organiser_plan.DeviationLine(name(s), NOW, name(s), name(s), n % 2 == 0, (change_line(s),)),
        organiser_plan.SHOWN,
    )
    shown = several(state, lambda s, n: change_line(s, ("added", "changed", "removed")[n % 3]), 1000)
    return organiser_plan.FilePage("Plan", name(state), versions, lines, found, name(state), name(state), shown)


def packs_page(state):
    def listing(s, n):
        return PackListing(f"f{n}", "DEV", name(s), 2**30, "d" * 64, n % 2 == 0, "")

    def card(s, n):
        files = several(s, listing, organiser_data.SHOWN)
        more = max(count(s) - organiser_data.SHOWN, 0)
        return organiser_data.PackCard(
            f"P{n}", name(s), "dev", EARLIER, True, True, name(s), LATER, False, files, more, 7
        )

    marks = ("uploaded", "executed", "refused")
    copies = several(
        state, lambda s, n: SignedCopy(f"c{n}", name(s), name(s), "2", marks[n % 3], NOW), organiser_data.SHOWN
    )
    owed = several(
        state,
        lambda s, n: organiser_data.DeletionLine(name(s), name(s), LATER, NOW if n % 3 == 0 else None, n % 2 == 0),
        200,
    )
    return organiser_data.PacksPage("Packs", several(state, card, 2), copies, owed)


def references_page(state):
    marks = ("active", "proposed", "superseded", "refused")

    def line(s, n):
        return organiser_data.VersionLine(
            f"r{n}", name(s), n, marks[n % 4], NOW, name(s), name(s), "c" * 64, NOW if n % 2 else None, n % 4 < 2
        )

    places = several(state, named, 60)
    return organiser_data.ReferencesPage("References", several(state, line, 300), places, True, "id1", name(state))


def submissions_page(state):
    def made(s, n):
        return replace(seen(s, n), standing="late" if n % 2 else "on time", similar_to="x", missing=("gpu",))

    options = several(state, named, 200)
    return organiser_submissions.SubmissionsPage(
        "Submissions", paged(state, made), organiser_submissions.Wanted("w1"), options, options, CHOICES, CHOICES
    )


def run_page(state):
    one = seen(state, similar_to="x", missing=("gpu",), standing_reason=name(state))
    one = replace(one, result=None, state="invalid") if state in ("none", "error") else one
    values = values_of(one.result.data) if one.result else None
    return organiser_submissions.RunPage(
        name(state),
        one,
        name(state),
        name(state),
        tuple((d, d) for d in organiser_submissions.possible_deeds(one)),
        values,
        "x",
    )


def appeals_page(state):
    def line(s, n):
        return organiser_results.AppealLine(
            n, name(s), name(s), "x", name(s), NOW, LATER, n == 1, "upheld" if n % 2 else "refused", name(s), name(s)
        )

    found = several(state, line, organiser_results.MOST_APPEALS)
    decided = tuple(replace(one, number=one.number + organiser_results.MOST_APPEALS) for one in found)
    return organiser_results.AppealsPage("Appeals", found[:20], decided, several(state, named, 50), 1, name(state))


def rescoring_page(state):
    marks = ("running", "ready", "applied", "cancelled")
    found = several(
        state,
        lambda s, n: organiser_submissions.BatchLine(f"b{n}", name(s), 2, marks[n % 4], name(s), name(s), NOW),
        organiser_submissions.MOST_BATCHES,
    )
    return organiser_submissions.RescoringPage("Re-scoring", found, several(state, named, 50), "id1", name(state))


def batch_page(state):
    def move(s, n):
        marks = ("scored", "waiting", "invalid", "failed")
        after = 0.5 if n % 2 else None
        return Move(f"s{n}", name(s), n, name(s), name(s), marks[n % 4], 0.25, after, n, n + n % 2)

    found = several(state, move)
    mark = {"none": "running", "many": "ready", "rtl": "applied", "long": "cancelled"}.get(state, "ready")
    held = Batch(id="b", reason=name(state), state=mark, made=NOW, ended=None)
    truth = Reference(task="CLIR", dataset=name(state), language="1A", queryset="", version=2)
    part = organiser_submissions.Part(0, "/batch")
    return organiser_submissions.batch_page(held, truth, found, part, by=name(state), late=count(state))


def release_page(state):
    def card(s, n):
        levels = tuple(
            organiser_results.LevelLine(one, one, NOW if at < n % 4 else None, at == n % 4)
            for at, one in enumerate(organiser_results.LEVELS)
        )
        return organiser_results.WindowCard(f"w{n}", name(s), LATER, n % 3 != 2, levels)

    return organiser_results.ReleasePage("Release", several(state, card, 60))


def level_page(state):
    held = several(
        state, lambda s, n: organiser_results.HeldRun(f"s{n}", name(s), name(s)), organiser_results.MOST_LISTED
    )
    waiting = several(
        state, lambda s, n: organiser_results.OpenAppeal(n, name(s), name(s)), organiser_results.MOST_LISTED
    )
    teams_named = tuple(name(state) for _ in range(min(count(state), organiser_results.MOST_LISTED)))
    wrong = PROBLEMS if state == "error" else ()
    return organiser_results.LevelPage(
        "Release",
        "week",
        name(state),
        "top",
        "Values and ranks",
        wrong,
        waiting,
        held,
        count(state),
        teams_named,
        teams_named,
        LATER if state == "one" else None,
        state == "many",
        name(state),
    )


def report_page(state):
    lines = tuple(name(state) for _ in range(min(count(state), 60)))
    return organiser_results.ReportPage("Report", lines, lines[:7], count(state))


def announcing_page(state):
    news = several(
        state,
        lambda s, n: organiser_communication.NewsLine(name(s), name(s), "everybody", name(s), NOW),
        organiser_communication.ANNOUNCEMENT_SHOWN,
    )
    return organiser_communication.AnnouncementsPage("Announcements", news, CHOICES, name(state), name(state), "judge")


def answering_page(state):
    def line(s, n):
        return organiser_communication.QuestionLine(f"q{n}", name(s), name(s), NOW, name(s), NOW, n % 2 == 0)

    found = several(state, line, organiser_communication.QUESTION_SHOWN)
    waiting = tuple(replace(one, id=f"w{one.id}", answer="", answered=None) for one in found)
    return organiser_communication.QuestionsPage("Questions", waiting, found, max(count(state) - len(found), 0))


def mailing_page(state):
    if state == "none":
        return organiser_communication.MailPage("Mail", CHOICES)
    persons = tuple(f"p{n}" for n in range(count(state)))
    seen_mail = MailPreview("pis", persons if state != "error" else (), name(state), name(state) * 3, "k" * 64)
    names = tuple(name(state) for _ in persons[: organiser_communication.LISTED])
    return organiser_communication.MailPage(
        "Mail", CHOICES, "pis", name(state), name(state), seen_mail, names, "all PIs"
    )


def webhooks_page(state):
    hooks = several(
        state,
        lambda s, n: organiser_communication.HookLine(f"h{n}", f"https://x.example/{name(s)}", ("results",), NOW),
        10,
    )
    return organiser_communication.WebhooksPage(
        "Webhooks", hooks, (("appeal_made", Markup("Appeal filed")),), fresh="ab" * 16, url=name(state), chosen=("x",)
    )


def audit_page(state):
    def line(s, n):
        return organiser_log.EventLine(n, NOW, name(s), "submission.accepted", name(s), ((name(s), name(s)),))

    verdict = {"one": Verdict((), 17, "f" * 64), "error": Verdict((3, 4), 17, "f" * 64)}.get(state)
    return organiser_log.AuditPage("Audit trail", paged(state, line), ("submission", "team"), "team", verdict)


def edit_page(state):
    def part(table):
        entries = several(state, lambda s, n: (f"e{n}", name(s)), 200)
        title, add = organiser_edit.TITLES[table], organiser_edit.ONE.get(table, "")
        return organiser_edit.EditPart(table, title, entries if add else (), add)

    return organiser_edit.EditPage("Edit campaign", tuple(map(part, organiser_edit.TITLES)), 3, state == "one", "")


def entry_page(state):
    plan = parse_plan(small_campaign_text())
    values = {"id": "dev", "title": name(state), "tasks": [name(state)], "event": name(state)}
    table = "about" if state == "many" else "windows"
    fields = organiser_edit.entry_fields(table, {} if state == "many" else values, plan)
    now = several(state, lambda s, n: (name(s), name(s)), 3)
    return organiser_edit.EntryPage(name(state), fields, 2, "/x", "UTC", True, state != "one", name(state), now)


def import_page(state):
    lines = several(state, lambda s, n: Problem("P-43", "", n, None, name(s), name(s), name(s)), 1000)
    counts = () if lines else (("New people", 3), ("New teams", 1))
    return organiser_import.ImportPage(
        "Import", name(state), "people", ("mail", "team"), ("pi",), name(state) * 3,
        mistakes=lines, more=count(state) - len(lines), counts=counts, table="" if lines else "eJw=",
    )  # fmt: skip


ALL = {
    organiser_import.ImportPage: import_page,
    organiser_edit.EditPage: edit_page,
    organiser_edit.EntryPage: entry_page,
    organiser_home.HomePage: home_page,
    organiser_frame.ConfirmPage: confirm_page,
    organiser_people.PeoplePage: people_page,
    organiser_people.ApprovalsPage: approvals_page,
    organiser_teams.TeamsPage: teams_page,
    organiser_teams.TeamPage: team_page,
    organiser_plan.WindowsPage: windows_page,
    organiser_plan.FilePage: file_page,
    organiser_data.PacksPage: packs_page,
    organiser_data.ReferencesPage: references_page,
    organiser_submissions.SubmissionsPage: submissions_page,
    organiser_submissions.RunPage: run_page,
    organiser_results.AppealsPage: appeals_page,
    organiser_submissions.RescoringPage: rescoring_page,
    organiser_submissions.BatchPage: batch_page,
    organiser_results.ReleasePage: release_page,
    organiser_results.LevelPage: level_page,
    organiser_results.ReportPage: report_page,
    organiser_communication.AnnouncementsPage: announcing_page,
    organiser_communication.QuestionsPage: answering_page,
    organiser_communication.MailPage: mailing_page,
    organiser_communication.WebhooksPage: webhooks_page,
    organiser_log.AuditPage: audit_page,
    organiser_log.ExportPage: lambda state: organiser_log.ExportPage("Export"),
}
"""By the dataclass of a page, what makes it in a state."""
