"""Organisers' pages in the states that must look right; `tests/server/pages/states.py` joins them to all others."""

from __future__ import annotations

from dataclasses import replace

from tests.server.pages.states import EARLIER, LATER, NOW, PROBLEMS, count, name, row, seen, several

from basanite.campaign.anchors import Verdict
from basanite.campaign.model.freezing import Change
from basanite.campaign.organising.looking.previewing import Departing, PlanPreview
from basanite.campaign.organising.looking.teams import Copy, TeamFacts
from basanite.campaign.organising.looking.waiting import Waiting
from basanite.campaign.organising.moves import Move
from basanite.campaign.packs.files import PackListing
from basanite.campaign.people.saying.mailing import Preview
from basanite.campaign.store.plans import parsed
from basanite.campaign.store.tables import Batch, Reference
from basanite.server.pages.foundation.paging import Paged
from basanite.server.pages.organiser import confirm, home
from basanite.server.pages.organiser.people import approvals, people, team, teams
from basanite.server.pages.organiser.plan import changes as file_changes
from basanite.server.pages.organiser.plan import file, packs, references, windows
from basanite.server.pages.organiser.record import audit, export
from basanite.server.pages.organiser.results import (
    appeals,
    batch,
    level,
    release,
    report,
    rescoring,
    run,
    submissions,
)
from basanite.server.pages.organiser.saying import announcing, answering, mailing, webhooks
from basanite.server.pages.runs.values import values_of
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
        return home.WindowLine(
            f"w{n}", name(s), states[n % 3], EARLIER, LATER, n % 2 == 0, 1200, 3, 1, 2, "To the public"
        )

    waits = Waiting(*([min(count(state), 1)] * 7)) if state != "many" else Waiting(*([count(state)] * 7))
    tasks = several(state, lambda s, n: home.Task(name(s), name(s), "references"), 200)
    return home.HomePage("Desk", tuple(home.duties(waits)), several(state, line, 60), 3, ("release",), tasks, 2)


def confirm_page(state):
    facts = ((name(state), name(state)),) if count(state) else ()
    words = (name(state),) if count(state) else ()
    return confirm.ConfirmPage(
        name(state),
        words,
        "/act",
        "Do it",
        "/back",
        facts,
        given=name(state),
        two=state == "many",
        safe=state == "rtl",
    )


def people_page(state):
    def line(s, n):
        held = (("evaluation", "evaluation team"), ("administrator", "administrator"))[: 1 + n % 2]
        return people.PersonLine(f"p{n}", name(s), f"{n}@example.org", held, f"t{n}", name(s), n == 1)

    asked = several(
        state,
        lambda s, n: people.RequestLine(f"r{n}", name(s), "a@example.org", name(s), NOW),
        people.MOST_REQUESTS,
    )
    gone = several(
        state, lambda s, n: people.ExceptionLine(f"e{n}", name(s), name(s), name(s), NOW, n % 2 == 0, n == 1), 20
    )
    return people.PeoplePage("People", asked, paged(state, line), "", CHOICES, gone, True, "", name(state))


def approvals_page(state):
    def line(s, n):
        return approvals.ActLine(
            f"a{n}", "Release", name(s), name(s), name(s), NOW, "agreed" if n % 2 else "refused", name(s), n == 1
        )

    found = several(state, line, approvals.SHOWN)
    return approvals.ApprovalsPage("Acts of two people", found[:20], found, ("Release",))


def teams_page(state):
    def line(s, n):
        places = ("active", "merged", "left")
        return teams.TeamLine(f"t{n}", name(s), name(s), name(s), places[n % 3], name(s), 3, n, NOW if n % 2 else None)

    near = several(state, lambda s, n: teams.NearLine("a", name(s), "b", name(s), name(s), name(s)), teams.MOST_ODD)
    shared = several(state, lambda s, n: teams.SharedLine((name(s), name(s)), (name(s),)), teams.MOST_ODD)
    return teams.TeamsPage("Teams", paged(state, line), near, shared, (named(state),))


def facts(state):
    place = "merged" if state == "none" else "active"
    return TeamFacts("t", name(state), "Alpha", name(state), name(state), place, "p", 3, count(state), None)


def team_page(state):
    def line(s, n):
        return team.MemberLine(f"p{n}", name(s), "a@example.org", name(s), n == 1, n == 2, NOW)

    others = several(state, named)
    return team.TeamPage(
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
        lambda s, n: windows.WindowCard(row(s, n, ("open", "coming", "past")[n % 3]), "named", NOW, "2018-04-09T00:00"),
        60,
    )
    stones = several(
        state, lambda s, n: windows.StoneCard(f"m{n}", name(s), NOW, name(s), name(s), "done", name(s)), 300
    )
    states = (("planned", "planned"), ("done", "done"))
    return windows.WindowsPage(
        "Windows", cards, stones, states, "America/New_York", "w1", "2018-05-01 10:00", name(state)
    )


def change_line(state, how="changed"):
    return file_changes.ChangeLine(how, name(state), (file_changes.Fact(name(state), name(state), name(state)),))


def small_plan():
    return parsed(small_campaign_text())


def file_page(state):
    changes = tuple(Change(f"windows.dev.{n}", 1, name(state)) for n in range(min(count(state), 1000)))
    gone = (Departing("dev", name(state), changes[:3], state == "error"),) if changes else ()
    found = None if state == "none" else PlanPreview("d" * 64, changes, gone if state != "rtl" else (), small_plan())
    versions = several(state, lambda s, n: file.VersionLine(n, "d" * 64, NOW, name(s), name(s)), file.SHOWN)
    lines = several(
        state,
        lambda s, n: file.DeviationLine(name(s), NOW, name(s), name(s), n % 2 == 0, (change_line(s),)),
        file.SHOWN,
    )
    shown = several(state, lambda s, n: change_line(s, ("added", "changed", "removed")[n % 3]), 1000)
    return file.FilePage("Plan", name(state), versions, lines, found, name(state), name(state), shown)


def packs_page(state):
    def listing(s, n):
        return PackListing(f"f{n}", "DEV", name(s), 2**30, "d" * 64, n % 2 == 0, "")

    def card(s, n):
        files = several(s, listing, packs.SHOWN)
        more = max(count(s) - packs.SHOWN, 0)
        return packs.PackCard(f"P{n}", name(s), "dev", EARLIER, True, True, name(s), LATER, False, files, more, 7)

    marks = ("uploaded", "executed", "refused")
    copies = several(state, lambda s, n: Copy(f"c{n}", name(s), name(s), "2", marks[n % 3], NOW), packs.SHOWN)
    owed = several(
        state, lambda s, n: packs.DeletionLine(name(s), name(s), LATER, NOW if n % 3 == 0 else None, n % 2 == 0), 200
    )
    return packs.PacksPage("Packs", several(state, card, 2), copies, owed)


def references_page(state):
    marks = ("active", "proposed", "superseded", "refused")

    def line(s, n):
        return references.VersionLine(
            f"r{n}", name(s), n, marks[n % 4], NOW, name(s), name(s), "c" * 64, NOW if n % 2 else None, n % 4 < 2
        )

    places = several(state, named, 60)
    return references.ReferencesPage("References", several(state, line, 300), places, True, "id1", name(state))


def submissions_page(state):
    def made(s, n):
        return replace(seen(s, n), standing="late" if n % 2 else "on time", similar_to="x", missing=("gpu",))

    options = several(state, named, 200)
    return submissions.SubmissionsPage(
        "Submissions", paged(state, made), submissions.Wanted("w1"), options, options, CHOICES, CHOICES
    )


def run_page(state):
    one = seen(state, similar_to="x", missing=("gpu",), standing_reason=name(state))
    one = replace(one, result=None, state="invalid") if state in ("none", "error") else one
    values = values_of(one.result.data) if one.result else None
    return run.RunPage(
        name(state), one, name(state), name(state), tuple((d, d) for d in run.possible(one)), values, "x"
    )


def appeals_page(state):
    def line(s, n):
        return appeals.AppealLine(
            n, name(s), name(s), "x", name(s), NOW, LATER, n == 1, "upheld" if n % 2 else "refused", name(s), name(s)
        )

    found = several(state, line, appeals.SHOWN)
    decided = tuple(replace(one, number=one.number + appeals.SHOWN) for one in found)
    return appeals.AppealsPage("Appeals", found[:20], decided, several(state, named, 50), 1, name(state))


def rescoring_page(state):
    marks = ("running", "ready", "applied", "cancelled")
    found = several(
        state,
        lambda s, n: rescoring.BatchLine(f"b{n}", name(s), 2, marks[n % 4], name(s), name(s), NOW),
        rescoring.SHOWN,
    )
    return rescoring.RescoringPage("Re-scoring", found, several(state, named, 50), "id1", name(state))


def batch_page(state):
    def move(s, n):
        marks = ("scored", "waiting", "invalid", "failed")
        after = 0.5 if n % 2 else None
        return Move(f"s{n}", name(s), n, name(s), name(s), marks[n % 4], 0.25, after, n, n + n % 2)

    found = several(state, move)
    mark = {"none": "running", "many": "ready", "rtl": "applied", "long": "cancelled"}.get(state, "ready")
    held = Batch(id="b", reason=name(state), state=mark, made=NOW, ended=None)
    truth = Reference(task="CLIR", dataset=name(state), language="1A", queryset="", version=2)
    return batch.page_of(held, truth, found, by=name(state), late=count(state), start=0, path="/batch")


def release_page(state):
    def card(s, n):
        levels = tuple(
            release.LevelLine(one, one, NOW if at < n % 4 else None, at == n % 4)
            for at, one in enumerate(release.LEVELS)
        )
        return release.WindowCard(f"w{n}", name(s), LATER, n % 3 != 2, levels)

    return release.ReleasePage("Release", several(state, card, 60))


def level_page(state):
    held = several(state, lambda s, n: level.HeldRun(f"s{n}", name(s), name(s)), level.SHOWN)
    waiting = several(state, lambda s, n: level.OpenAppeal(n, name(s), name(s)), level.SHOWN)
    teams_named = tuple(name(state) for _ in range(min(count(state), level.SHOWN)))
    wrong = PROBLEMS if state == "error" else ()
    return level.LevelPage(
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
    return report.ReportPage("Report", lines, lines[:7], count(state))


def announcing_page(state):
    news = several(
        state, lambda s, n: announcing.NewsLine(name(s), name(s), "everybody", name(s), NOW), announcing.SHOWN
    )
    return announcing.AnnouncingPage("Announcements", news, CHOICES, name(state), name(state), "judge")


def answering_page(state):
    def line(s, n):
        return answering.QuestionLine(f"q{n}", name(s), name(s), NOW, name(s), NOW, n % 2 == 0)

    found = several(state, line, answering.SHOWN)
    waiting = tuple(replace(one, id=f"w{one.id}", answer="", answered=None) for one in found)
    return answering.AnsweringPage("Questions", waiting, found, max(count(state) - len(found), 0))


def mailing_page(state):
    if state == "none":
        return mailing.MailingPage("Mail", CHOICES)
    persons = tuple(f"p{n}" for n in range(count(state)))
    seen_mail = Preview("pis", persons if state != "error" else (), name(state), name(state) * 3, "k" * 64)
    names = tuple(name(state) for _ in persons[: mailing.LISTED])
    return mailing.MailingPage("Mail", CHOICES, "pis", name(state), name(state), seen_mail, names, "all PIs")


def webhooks_page(state):
    hooks = several(
        state, lambda s, n: webhooks.HookLine(f"h{n}", f"https://x.example/{name(s)}", ("results",), NOW), 10
    )
    return webhooks.WebhooksPage("Webhooks", hooks, ("appeal_made",), fresh="ab" * 16, url=name(state), chosen=("x",))


def audit_page(state):
    def line(s, n):
        return audit.EventLine(n, NOW, name(s), "submission.accepted", name(s), ((name(s), name(s)),))

    verdict = {"one": Verdict((), 17, "f" * 64), "error": Verdict((3, 4), 17, "f" * 64)}.get(state)
    return audit.AuditPage("Audit trail", paged(state, line), ("submission", "team"), "team", verdict)


ALL = {
    home.HomePage: home_page,
    confirm.ConfirmPage: confirm_page,
    people.PeoplePage: people_page,
    approvals.ApprovalsPage: approvals_page,
    teams.TeamsPage: teams_page,
    team.TeamPage: team_page,
    windows.WindowsPage: windows_page,
    file.FilePage: file_page,
    packs.PacksPage: packs_page,
    references.ReferencesPage: references_page,
    submissions.SubmissionsPage: submissions_page,
    run.RunPage: run_page,
    appeals.AppealsPage: appeals_page,
    rescoring.RescoringPage: rescoring_page,
    batch.BatchPage: batch_page,
    release.ReleasePage: release_page,
    level.LevelPage: level_page,
    report.ReportPage: report_page,
    announcing.AnnouncingPage: announcing_page,
    answering.AnsweringPage: answering_page,
    mailing.MailingPage: mailing_page,
    webhooks.WebhooksPage: webhooks_page,
    audit.AuditPage: audit_page,
    export.ExportPage: lambda state: export.ExportPage("Export"),
}
"""By the dataclass of a page, what makes it in a state."""
