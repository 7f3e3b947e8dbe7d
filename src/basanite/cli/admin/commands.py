"""Commands that are made from declared actions: their arguments, options, help, and how they show what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

import click
from click.shell_completion import CompletionItem

from basanite.cli.admin.desk import AdminOptions, at_desk, show, table
from basanite.cli.options import PATH, example
from basanite.extras import named_extras
from basanite.formats.bounded import read_bounded
from basanite.registry import suggestion

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from basanite.campaign.actions.registry import Action, Outcome

LARGEST = 4 * 2**20
CAMPAIGN = "The slug of the campaign; may be left out if there is one only."
WHO = "Act as the person with this email address; without it the log says `command`."
DATA = "The folder with the server's data. [default: basanite-data, or what basanite.toml says]"


class ActionGroup(click.Group):
    """The group of a name, whose commands are made from the actions of a module once one is called or listed.

    Shells complete its parts by their names alone: loading the actions loads the database's library.
    """

    def __init__(self, module: str, name: str, words: str, *parts: str) -> None:
        first = next(part for part in ("list", "show", *parts) if part in parts)
        super().__init__(name, help=words, epilog=example(f"basanite admin {name} {first} --data season"))
        self.module, self.parts = module, parts

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all parts, those written by hand among them."""
        return sorted({*self.parts, *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a part."""
        if cmd_name not in self.list_commands(ctx) and not ctx.resilient_parsing:
            ctx.fail(f"No such command {cmd_name!r}. {suggestion(cmd_name, tuple(self.list_commands(ctx)))}")
        if cmd_name not in self.parts:
            return super().get_command(ctx, cmd_name)
        return action_command(self.module, f"{self.name} {cmd_name}")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The parts that begin so, and options."""
        named = [CompletionItem(part) for part in self.list_commands(ctx) if part.startswith(incomplete)]
        return named + click.Command.shell_complete(self, ctx, incomplete)


def action_command(module: str, name: str) -> click.Command:
    """The command of an action that a module declares."""
    return command(_actions_of(module)[name])


def _actions_of(module: str) -> Mapping[str, Action]:
    with named_extras():
        from basanite.campaign.actions.registry import ACTIONS

        import_module(f"basanite.campaign.actions.{module}")
    return ACTIONS


def command(action: Action) -> click.Command:
    """The command of one action."""
    params = [param for name, info in action.arguments.model_fields.items() for param in _param(name, info)]
    if action.ask:
        params.append(click.Option(["--yes"], is_flag=True, help="Do not ask again."))
    if action.in_campaign and not action.names_campaign:
        params.append(click.Option(["--campaign"], default="", metavar="SLUG", help=CAMPAIGN))
    params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object instead of tables."))
    params.append(click.Option(["--data"], type=click.Path(path_type=Path, file_okay=False), help=DATA))
    params.append(click.Option(["--as", "acting"], metavar="MAIL", help=WHO))
    name, words = action.name.rpartition(" ")[2], example(f"basanite admin {action.name} {action.hint}")
    return click.Command(name, callback=partial(_run, action), params=params, help=action.help, epilog=words)


def _run(
    action: Action,
    *,
    as_json: bool,
    data: Path | None,
    acting: str | None,
    campaign: str = "",
    yes: bool = False,
    **given: Any,
) -> None:
    """Do it in a transaction of its own, and show what came of it."""
    if action.ask and not yes:
        click.confirm(action.ask.format(**given), abort=True, err=True)
    with at_desk(AdminOptions(data, acting, as_json)) as desk:
        outcome = action.run(desk.at(campaign), action.parse(given))
    show(outcome.data, lines_of(outcome), json=as_json or outcome.json)


def lines_of(outcome: Outcome) -> Iterator[str]:
    """What a terminal shows: sentences, the list, and what comes next."""
    words = list(outcome.words)
    if outcome.hint and words and not outcome.hint.startswith("\n"):
        words[-1] += f" {outcome.hint}"
    elif outcome.hint:
        words.append(outcome.hint.strip())
    yield from words
    if outcome.listing is not None:
        yield from table(outcome.listing.rows, outcome.listing.columns, empty=outcome.listing.empty)
    yield from outcome.after


def _param(name: str, info: FieldInfo) -> Iterator[click.Parameter]:
    """How a command asks for one field."""
    from basanite.campaign.actions.registry import Argument, Option

    (told,) = (one for one in info.metadata if isinstance(one, Argument))
    facts: dict[str, Any] = {"type": PATH, "callback": _read} if told.file else _type(info.annotation, told)
    if told.metavar:
        facts["metavar"] = told.metavar
    if not info.is_required():
        facts["default"] = None if told.file else info.default
    if not isinstance(told, Option):
        yield click.Argument([name], required=info.is_required(), **facts)
        return
    typed = (told.name or name).replace("_", "-")
    options = "/".join(f"--{part}" for part in typed.split("/"))
    facts |= {"required": told.required, "show_default": told.show_default, "help": told.help}
    if info.annotation is bool and "/" not in typed:
        facts |= {"is_flag": True, "flag_value": not told.inverted}
    yield click.Option([options, name], **facts)


def _type(annotation: Any, told: Any) -> dict[str, Any]:
    if told.choices:
        return {"type": click.Choice(told.choices)}
    if get_origin(annotation) is tuple:
        return {"multiple": True}
    if getattr(told, "least", None) is not None:
        return {"type": click.IntRange(told.least, told.most)}
    return {"type": int} if annotation is int else {}


def _read(ctx: click.Context, param: click.Parameter, path: Path | None) -> str:
    if path is None:
        return ""
    return read_bounded(path, LARGEST).decode("utf-8", "replace")
