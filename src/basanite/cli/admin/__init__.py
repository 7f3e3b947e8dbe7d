"""`basanite admin`: everything an organiser does, at the machine itself; each command is loaded when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

from basanite.cli.options import example
from basanite.registry import suggestion

SECTIONS: Final = {
    "The plan": {
        "campaign": "Add a campaign from its file, show it, change it, and see what is frozen.",
        "rehearse": "Play a season on paper, and list what would go wrong.",
        "window": "List the windows of a campaign, and extend one with a reason.",
        "milestone": "List milestones with owner and state, and set a state.",
    },
    "People": {
        "people": "Add and correct people, give and take roles, answer requests for access and erasure.",
        "team": "List teams and members, make, change, merge and approve them.",
        "exception": "Let a person judge and take part, by the word of two organisers.",
        "agreement": "List agreements, counter-sign and end them, take certificates of deletion.",
        "resource": "List resources that teams declared, and what they still have to share.",
        "token": "Make a token for a person's programs; it is shown once.",
        "announce": "Say something to everybody, with mail.",
        "mail": "Write to people by role: first a preview, then exactly that.",
        "question": "List the questions of people, and answer them.",
        "webhook": "Have another service called when something happens.",
    },
    "Data and truth": {
        "pack": "Add files of a data pack, encrypt them, see when keys come out.",
        "reference": "Add a version of the truth, and list the versions.",
        "rescore": "Preview a re-scoring, then apply or cancel it.",
        "reading": "Add reading packages, make formal tasks, and let the gold grow.",
        "panel": "Have people judge: schemes, items, judges, progress, adjudication, pay, results.",
        "annotation": "Annotate texts: projects, assignment, agreement, changes, results.",
    },
    "Submissions and results": {
        "submission": "List and show submissions, withdraw, void, admit, name the primary one.",
        "extra": "Give a team further attempts, with a reason.",
        "release": "Release results, level by level, or see what stands in the way.",
        "appeal": "List appeals, and decide one with a reason.",
        "board": "Show a leaderboard as somebody would see it.",
        "compare": "Ask again for the comparisons that boards still wait for.",
        "approvals": "List acts that wait for a second person, agree or refuse.",
    },
    "The record": {
        "events": "List the log of events, and verify its chain.",
        "keys": "List the keys that sign receipts, rotate and revoke them.",
        "export": "Write a whole campaign into a folder or archive.",
        "import": "Read a campaign that was exported elsewhere.",
    },
}
COMMANDS: Final = {name: words for section in SECTIONS.values() for name, words in section.items()}
FILES: Final = {
    "rehearse": "season.plan",
    "campaign": "season.plan",
    "window": "season.plan",
    "milestone": "season.plan",
    "people": "people.people",
    "team": "people.teams",
    "token": "people.tokens",
    "exception": "people.exceptions",
    "agreement": "people.terms",
    "resource": "people.terms",
    "announce": "telling",
    "mail": "writing",
    "question": "writing",
    "webhook": "telling",
    "pack": "season.packs",
    "reference": "season.truth",
    "rescore": "season.rescoring",
    "reading": "judging.reading",
    "panel": "judging.panel",
    "annotation": "judging.annotation",
    "submission": "season.submissions",
    "extra": "season.submissions",
    "release": "season.releasing",
    "appeal": "season.releasing",
    "board": "season.releasing",
    "compare": "season.releasing",
    "approvals": "people.approving",
    "events": "season.record",
    "keys": "season.record",
    "export": "season.record",
    "import": "season.record",
}
"""In which file of this folder a command is."""


class AdminGroup(click.Group):
    """A group that knows its commands by name, in sections, and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; an unknown one is answered with the nearest."""
        if cmd_name not in COMMANDS:
            ctx.fail(f"There is no command 'admin {cmd_name}'. {suggestion(cmd_name, tuple(COMMANDS))}")
        module = import_module(f"basanite.cli.admin.{FILES[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_" if cmd_name == "import" else cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section without importing any of them."""
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(section.items()))


@click.group(
    cls=AdminGroup,
    epilog=example("basanite admin campaign add campaign.toml --data new-season"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def admin() -> None:
    """Organise a season: plan, people, data, truth, results.

    Every command works on the data folder of a server (--data), whether it runs or not, and is written into the log
    with who did it: `command`, or the person named by --as.
    """
