"""`basanite admin`: everything an organiser does, at the machine itself; each command is loaded when it is called."""

from __future__ import annotations

from typing import Final

import click

from basanite.cli.groups import LazyGroup
from basanite.cli.options import example

SECTIONS: Final = {
    "The plan": {
        "campaign": ("admin.campaign", "Add a campaign from its file, show it, change it, and see what is frozen."),
        "rehearse": ("admin.campaign", "Rehearse a campaign with simulated teams, and list what would go wrong."),
        "window": ("actions.calendar", "List the windows of a campaign, and extend one with a reason."),
        "milestone": ("actions.calendar", "List milestones with owner and state, and set a state."),
    },
    "People": {
        "people": (
            "actions.people",
            "Add and correct people, grant and revoke roles, answer access and erasure requests.",
        ),
        "team": ("actions.teams", "List, create, change, merge and approve teams."),
        "exception": ("actions.people", "Let a person both judge and take part, with the approval of two organizers."),
        "agreement": (
            "admin.packs",
            "List, countersign and end agreements, and record certificates of deletion.",
        ),
        "resource": ("admin.packs", "List declared resources, and what teams still have to share."),
        "token": ("admin.keys", "Create an API token for a person; it is shown only once."),
        "announce": ("actions.announcements", "Make an announcement, on the website and by mail."),
        "mail": ("actions.announcements", "Write to people by role, with a preview."),
        "question": ("actions.announcements", "List questions and answer them."),
        "webhook": ("actions.announcements", "Notify another service of events."),
    },
    "Data and references": {
        "pack": ("admin.packs", "Add and encrypt files of data packs, and see when keys are released."),
        "reference": ("admin.reference", "Add a version of a reference, and list versions."),
        "rescore": ("actions.rescoring", "Preview a re-scoring, then apply or cancel it."),
        "reading": ("admin.reading", "Add reading packages, create formal tasks, and extend the gold."),
        "panel": (
            "admin.panel",
            "Manage judging: schemes, items, judges, progress, adjudication, pay, results.",
        ),
        "annotation": (
            "admin.annotation",
            "Annotate texts: projects, assignments, agreement, configuration changes, results.",
        ),
    },
    "Submissions and results": {
        "submission": (
            "actions.submissions",
            "List, show, withdraw, void and admit submissions, and set the primary one.",
        ),
        "extra": ("actions.submissions", "Grant a team extra attempts, with a reason."),
        "release": ("actions.releases", "Release results, level by level, or list what blocks a release."),
        "appeal": ("actions.appeals", "List appeals and decide them, with a reason."),
        "board": ("actions.releases", "Show a leaderboard as a given person sees it."),
        "compare": ("actions.releases", "Repeat failed comparisons that leaderboards wait for."),
        "approvals": ("actions.approvals", "List, approve or refuse actions that need a second person."),
    },
    "The server": {
        "server": (
            "actions.server",
            "Show versions, jobs, storage, users, backups and settings; search the log.",
        ),
    },
    "The record": {
        "events": ("admin.record", "List the audit log and verify its hash chain."),
        "keys": ("actions.keys", "List the keys that sign receipts, rotate and revoke them."),
        "vault": ("admin.keys", "Show the location of the server's keys, and move them out of the data folder."),
        "export": ("admin.record", "Export a campaign to a folder or archive."),
        "import": ("admin.record", "Import a campaign that was exported elsewhere."),
    },
}


PARTS: Final = {
    "window": ("list", "extend"),
    "milestone": ("list", "set"),
    "people": ("add", "import", "list", "grant", "revoke", "correct", "export", "erase"),
    "team": ("list", "add", "place", "merge", "split", "hand-over", "leave", "invite", "requests", "decide"),
    "exception": ("list", "ask", "agree", "end"),
    "question": ("list", "answer"),
    "webhook": ("add", "list", "end"),
    "rescore": ("preview", "show", "apply", "cancel", "renew"),
    "submission": ("list", "show", "withdraw", "void", "admit", "primary", "baseline", "refund"),
    "appeal": ("list", "decide"),
    "approvals": ("list", "agree", "refuse"),
    "keys": ("list", "replace", "revoke"),
    "server": ("status", "jobs", "workers", "mail", "storage", "users", "backups", "settings", "log"),
}
"""What each group that is made from actions consists of, for shells that complete it; a test holds it against them."""


class AdminGroup(LazyGroup):
    """The commands of organizers, most of which are made from declared actions."""

    def load(self, name: str) -> click.Command:
        """The command of a name, from its module or from the module of actions."""
        module, words = self.places[name]
        kind, _, actions = module.partition(".")
        if kind != "actions":
            return super().load(name)
        from basanite.cli.admin.commands import ActionGroup, action_command

        return ActionGroup(actions, name, words, *PARTS[name]) if name in PARTS else action_command(actions, name)


@click.group(
    cls=AdminGroup,
    sections=SECTIONS,
    epilog=example("basanite admin campaign add campaign.toml --data new-season"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def admin() -> None:
    """Administer campaigns: plan, people, data, references, results.

    Every command works on a server's data folder (--data), running or not, and is logged with
    its author: `command`, or the person named by --as.
    """
