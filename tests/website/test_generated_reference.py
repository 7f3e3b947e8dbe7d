"""The pages made from the code hold all there is: a command, task, metric, call or setting that is added is in them."""

from __future__ import annotations

import re
from typing import Any

import click
import pytest
from tools.website.calls import http_page, routes_alone
from tools.website.commands import command_pages
from tools.website.models import campaign_page, plan_page, settings_page
from tools.website.reference import generated_pages
from tools.website.registered import metrics_page, plugins_page, tasks_page

from basanite import registry
from basanite.campaign.settings import Settings
from basanite.cli import app
from basanite.server import api
from basanite.server.roles import list_routes


def tree(command: click.Command, context: click.Context) -> Any:
    """Every command below one, with the words to type."""
    yield context.command_path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            yield from tree(below, click.Context(below, context, name))


@pytest.fixture(scope="module")
def commands():
    return dict(command_pages())


@pytest.mark.parametrize("name", sorted(app.list_commands(click.Context(app))))
def test_a_command_has_a_page_with_all_that_can_be_typed(name, commands):
    top = click.Context(app, info_name="basanite")
    command = app.get_command(top, name)
    for path, one in tree(command, click.Context(command, top, name)):
        assert path.removeprefix("basanite ") in commands[name]
        for option in (part for part in one.params if isinstance(part, click.Option) and not part.hidden):
            assert max(option.opts, key=len) in commands[name], path


def test_every_task_is_there_with_its_settings():
    page = tasks_page()
    for name in registry.names("tasks"):
        assert f"\n## {name}\n" in page
        assert all(f"`{setting.name}`" in page for setting in registry.load("tasks", name).settings)


def test_every_metric_and_every_other_plug_in_is_there():
    metrics, plugins = metrics_page(), plugins_page()
    assert [name for name in registry.names("metrics") if f"`{name}`" not in metrics] == []
    assert [one for one in registry.plugins() if f"`{one.target}`" not in plugins] == []


def test_every_call_is_there_with_who_may_make_it():
    page, routes = http_page(), list_routes(routes_alone())
    rows = re.findall(r"^\| `(\w+) (\S+)` \| (.+) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    told = {
        (method, api.PREFIX + path.replace("…", "/campaigns/{slug}")): (about, who)
        for method, path, about, who, _ in rows
    }
    documented = {(m, route.path) for route in routes for m in route.methods if m not in ("HEAD", "OPTIONS")}
    assert [call for call in documented - told.keys() if "openapi" not in call[1]] == []
    assert all(about and who for about, who in told.values())


def test_every_setting_of_a_server_is_there_with_its_words():
    page = settings_page()
    assert [name for name in Settings.model_fields if f"| `{name}` |" not in page] == []
    assert "Whether strangers may make an account" in page


def test_models_say_what_is_needed_and_what_is_taken_without_being_said():
    assert "| `opens` | `Instant` | `needed` |" in campaign_page()
    assert "| `half_width` | `float` | `0.05` |" in campaign_page()
    assert "| `replications` | `int` | `1` |" in plan_page()


def test_no_secret_has_a_value_on_a_page():
    """Settings are read from the class and not from the machine that builds the site."""
    assert "| `password` | `str` |  |" in settings_page()


def test_every_generated_page_begins_with_one_heading():
    for name, text in generated_pages():
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1, name
        assert text.startswith("# "), name
