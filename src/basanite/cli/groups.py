"""Groups of commands, known by name and section with one line each: a command is loaded only when it is called.

So help and completion cost no import, and a mistyped name is answered with the nearest one. What commands there are
stands below, by what people want to do (P-3).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, TypeAlias

import click
from click.shell_completion import CompletionItem

from basanite.registry import suggestion

Sections: TypeAlias = Mapping[str, Mapping[str, tuple[str, str]]]
"""By title and name of the command: the module below `basanite.cli` that it is in, and its line in the list."""

WORDS_OF_PYTHON = {"import", "next"}


class LazyGroup(click.Group):
    """A group that knows its commands by name, in sections, and imports one only when it is called."""

    def __init__(
        self, *args: Any, sections: Sections, former: Mapping[str, str] | None = None, **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.sections = sections
        self.former = former or {}
        """By former name of a command that is in another group now: its module. They work, and no list shows them."""
        self.places = {name: place for section in sections.values() for name, place in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order people need them."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; an unknown one is answered with the nearest, unless a shell only asks."""
        if cmd_name in self.places or cmd_name in self.former:
            return self.load(cmd_name)
        if not ctx.resilient_parsing:
            typed = " ".join([*_names(ctx), cmd_name])
            ctx.fail(f"There is no command {typed!r}. {suggestion(cmd_name, tuple(self.places))}")
        return None

    def load(self, name: str) -> click.Command:
        """The command of a name that is known, from its module."""
        attribute = f"{name}_" if name in WORDS_OF_PYTHON else name
        module = self.places[name][0] if name in self.places else self.former[name]
        command: click.Command = getattr(import_module(f"basanite.cli.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section without importing any of them."""
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, words) for name, (_, words) in section.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a shell may offer: the names of commands, without importing any of them, and options."""
        known = [(name, words) for name, (_, words) in self.places.items() if name.startswith(incomplete)]
        named = [CompletionItem(name, help=words) for name, words in known]
        return named + click.Command.shell_complete(self, ctx, incomplete)


def _names(ctx: click.Context) -> list[str]:
    """The commands that were typed to get here, without the program's own name."""
    return [] if ctx.parent is None else [*_names(ctx.parent), str(ctx.info_name)]


SECTIONS: Final = {
    "Score offline": {
        "validate": ("scoring", "Check a submission and list every problem with its location and fix."),
        "score": ("scoring", "Score a submission against a reference, with confidence intervals and breakdowns."),
        "compare": ("comparison", "Compare systems: significant differences, groups and rank ranges."),
        "audit": ("audit", "Audit a leaderboard: which claimed differences hold, rank ranges, uninformative items."),
        "send": ("send", "Send results to Every Eval Ever, Hugging Face, Weights & Biases or OpenTelemetry."),
        "gate": ("gate", "Gate for CI: pass only if a new version is shown to be no worse than a baseline."),
        "explain": (
            "explanation",
            "Explain a metric on one unit, step by step, with the numbers filled into its formula.",
        ),
        "power": ("power", "Estimate sample sizes, and the smallest difference that a test set can show."),
        "across": (
            "across",
            "Rank systems across several tasks by a declared rule.",
        ),
        "pack": ("pack", "Pack a submission into an archive with the required name."),
    },
    "Prepare data": {
        "inspect": ("inspection", "Identify a file: its format, how many items it holds, and which commands read it."),
        "dataset": (
            "dataset",
            "Check a released dataset, build packs from documents, or generate one for a rehearsal.",
        ),
        "convert": (
            "convert",
            "Convert files of TREC, WMT, STM, CTM, trec_eval and sacreBLEU to Basanite's formats, and back.",
        ),
        "pool": ("pool", "Pool documents of several runs for judging, and measure what each run contributes."),
    },
    "Language models": {
        "run": ("run", "Ask a language model about every item, within a budget; resume where it stopped."),
        "canary": ("canary", "Sealed tests: traceable copies, leaks, retired items, overlap with training data."),
        "transcripts": ("transcripts", "Read what models answered: search, filter, systems side by side on a page."),
    },
    "Human judging and annotation": {
        "judge": ("judge", "Human judging: schemes, rounds, crowd batches, agreement, system rankings."),
        "annotate": ("annotate", "Annotate texts in the browser: labels, questions and relations, in one command."),
        "annotation": (
            "annotation",
            "Check annotation configurations, compare versions, migrate records.",
        ),
    },
    "Machine reading": {
        "reading": ("lazy_groups", "Machine reading: check packages, reason with rules, and make reading tasks."),
    },
    "Learning algorithms and representations": {
        "harness": ("lazy_groups", "Run evaluation plans: sealed splits, six conditions, teams' systems, claims."),
        "measure": ("lazy_groups", "Measure the quality of representations: measures, shift, comparison, monitoring."),
    },
    "Evaluation programs": {
        "material": ("lazy_groups", "IARPA MATERIAL: threshold advice, error analysis, query packs, domains."),
    },
    "Take part in a campaign": {
        "submit": ("submit", "Upload a submission to a server, wait for the result, and save the receipt."),
        "verify": ("verify", "Verify a receipt offline with keys that you trust, and recompute its score."),
        "decrypt": ("locks", "Decrypt a file of a data pack after its key has been published."),
    },
    "Run a campaign": {
        "demo": ("demo", "Start a demo campaign on this machine, with accounts to sign in as."),
        "admin": ("admin", "Administer campaigns: plan, people, data, references, releases, appeals, audit log."),
        "publish": ("archives", "Build a static site of a campaign's released results."),
        "import": (
            "archives",
            "Import a campaign that another server exported, without accounts or permissions.",
        ),
    },
    "Operate a server": {
        "serve": ("server", "Run the web server, with or without a worker in the same process."),
        "worker": ("server", "Run background jobs: validate, score, compare, send mail."),
        "doctor": (
            "installation",
            "Check the installation and the server's configuration, with a fix for each problem.",
        ),
        "backup": ("archives", "Back up a server into one encrypted file; the vault has a file of its own."),
        "restore": ("archives", "Restore a backup to an empty location, after verifying it."),
    },
    "Look up": {
        "tasks": ("listing", "List the tasks, each with its settings."),
        "metrics": ("listing", "List the metrics, each with its citation."),
        "plugins": ("listing", "List everything that is registered, with the package that registers it."),
        "completion": ("installation", "Print the completion script for your shell."),
    },
}
FORMER: Final = {"advise": "held_key", "explore": "held_key", "queries": "queries", "domains": "queries"}
"""Commands that are in the group `material` now, by the names they had."""
COMMANDS: Final = {name: words for section in SECTIONS.values() for name, (_, words) in section.items()}
