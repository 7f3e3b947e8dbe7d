"""`basanite admin`: everything an organiser does, at the machine itself; each command is loaded when it is called."""

from __future__ import annotations

from typing import Final

import click

from basanite.cli.groups import LazyGroup
from basanite.cli.options import example

SECTIONS: Final = {
    "The plan": {
        "campaign": ("admin.season.plan", "Add a campaign from its file, show it, change it, and see what is frozen."),
        "rehearse": ("admin.season.plan", "Play a season on paper, and list what would go wrong."),
        "window": ("admin.season.plan", "List the windows of a campaign, and extend one with a reason."),
        "milestone": ("admin.season.plan", "List milestones with owner and state, and set a state."),
    },
    "People": {
        "people": (
            "admin.people.people",
            "Add and correct people, give and take roles, answer requests for access and erasure.",
        ),
        "team": ("admin.people.teams", "List teams and members, make, change, merge and approve them."),
        "exception": ("admin.people.exceptions", "Let a person judge and take part, by the word of two organisers."),
        "agreement": (
            "admin.people.terms",
            "List agreements, counter-sign and end them, take certificates of deletion.",
        ),
        "resource": ("admin.people.terms", "List resources that teams declared, and what they still have to share."),
        "token": ("admin.people.tokens", "Make a token for a person's programs; it is shown once."),
        "announce": ("admin.telling", "Say something to everybody, with mail."),
        "mail": ("admin.writing", "Write to people by role: first a preview, then exactly that."),
        "question": ("admin.writing", "List the questions of people, and answer them."),
        "webhook": ("admin.telling", "Have another service called when something happens."),
    },
    "Data and truth": {
        "pack": ("admin.season.packs", "Add files of a data pack, encrypt them, see when keys come out."),
        "reference": ("admin.season.truth", "Add a version of the truth, and list the versions."),
        "rescore": ("admin.season.rescoring", "Preview a re-scoring, then apply or cancel it."),
        "reading": ("admin.judging.reading", "Add reading packages, make formal tasks, and let the gold grow."),
        "panel": (
            "admin.judging.panel",
            "Have people judge: schemes, items, judges, progress, adjudication, pay, results.",
        ),
        "annotation": (
            "admin.judging.annotation",
            "Annotate texts: projects, assignment, agreement, changes, results.",
        ),
    },
    "Submissions and results": {
        "submission": (
            "admin.season.submissions",
            "List and show submissions, withdraw, void, admit, name the primary one.",
        ),
        "extra": ("admin.season.submissions", "Give a team further attempts, with a reason."),
        "release": ("admin.season.releasing", "Release results, level by level, or see what stands in the way."),
        "appeal": ("admin.season.releasing", "List appeals, and decide one with a reason."),
        "board": ("admin.season.releasing", "Show a leaderboard as somebody would see it."),
        "compare": ("admin.season.releasing", "Ask again for the comparisons that boards still wait for."),
        "approvals": ("admin.people.approving", "List acts that wait for a second person, agree or refuse."),
    },
    "The record": {
        "events": ("admin.season.record", "List the log of events, and verify its chain."),
        "keys": ("admin.season.record", "List the keys that sign receipts, rotate and revoke them."),
        "vault": ("admin.vault", "See where the server's keys lie, and move them out of the data folder."),
        "export": ("admin.season.record", "Write a whole campaign into a folder or archive."),
        "import": ("admin.season.record", "Read a campaign that was exported elsewhere."),
    },
}


@click.group(
    cls=LazyGroup,
    sections=SECTIONS,
    epilog=example("basanite admin campaign add campaign.toml --data new-season"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def admin() -> None:
    """Organise a season: plan, people, data, truth, results.

    Every command works on the data folder of a server (--data), whether it runs or not, and is written into the log
    with who did it: `command`, or the person named by --as.
    """
