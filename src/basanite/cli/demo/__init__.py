"""`basanite demo`: a season that runs on this machine, with people to sign in as; or, offline, an evaluation as files.

On a terminal it serves until Ctrl-C. Where nobody can press that (a pipe, a script) it looks at its own pages, says
what it saw, and ends.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.options import PATH, as_json, example
from basanite.errors import MissingExtraError
from basanite.reports.formats import json_output

if TYPE_CHECKING:
    from socket import socket

    from basanite.demo.building import Demo
    from basanite.demo.looking import Seen

DATA = Path("basanite-demo")
OUT = Path("build/demo")
WATCHED_SECONDS = 120.0


@click.command(epilog=example("basanite demo --offline --out my-demo"))
@click.option("--data", type=PATH, default=DATA, show_default=True, help="The folder in which the season lives.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option("--reset", is_flag=True, help="Throw an earlier demo away and make a new one.")
@click.option("--build-only", is_flag=True, help="Make the season, start nothing.")
@click.option("--serve", is_flag=True, help="Serve until stopped, also where there is no terminal.")
@click.option("--logins", is_flag=True, help="Only say how to sign in to the demo that is there, with fresh codes.")
@click.option("--offline", is_flag=True, help="No season: take an example evaluation from files to a report.")
@click.option("--out", type=PATH, default=OUT, show_default=True, help="With --offline: the folder to make.")
@as_json
def demo(data: Path, out: Path, offline: bool, as_json: bool, **how: Any) -> None:
    """Start a small season on this machine: teams, results, open windows, and people to sign in as.

    Everything in it is made by the functions that organisers and teams call, and scored for real. It is made once, in
    --data; the next start goes on with it. With --offline an example evaluation is taken from files to a report, and
    each step is told together with the command that does the same by hand.
    """
    if offline:
        from basanite.cli.demo.tour import show_tour

        show_tour(out, json=as_json)
        return
    try:
        import basanite.demo.building  # noqa: F401 - is the extra there?
    except ModuleNotFoundError as missing:
        cure = f"{missing.name} is not installed: pip install -r requirements/server.txt; or use --offline."
        raise MissingExtraError(cure) from None
    _season(data, as_json=as_json, **how)


def _season(data: Path, *, port: int, reset: bool, build_only: bool, serve: bool, logins: bool, as_json: bool) -> None:
    from basanite.demo import building, serving

    say = partial(click.echo, err=as_json)
    if logins:
        _show_logins(_there(data), as_json=as_json)
        return
    if build_only:
        address = f"http://{serving.HOST}:{port}" if port else ""
        _show_built(building.make(data, say, reset=reset, address=address), as_json=as_json)
        return
    with serving.bound(port) as door:  # first of all: whoever cannot have the port learns it at once
        made = building.make(data, say, reset=reset, address=serving.address_of(door))
        if serve or (sys.stdout.isatty() and not as_json):
            _serve(made, door)
        else:
            _walk(made, door, as_json=as_json)


def _there(data: Path) -> Demo:
    from basanite.demo.building import Demo
    from basanite.errors import SettingError

    found = Demo.read(data)
    if found is None:
        raise SettingError(f"There is no demo in {data}. Make one: basanite demo --data {data} --build-only")
    return found


def _serve(made: Demo, door: socket) -> None:
    """Serve until Ctrl-C."""
    from basanite.demo import announcing, building, making, serving

    address = serving.address_of(door)
    with building.opened(made.folder, address) as office:
        for line in welcome(made, address, announcing.to_come(office)):
            click.echo(line)
        sys.stdout.flush()
        with (
            suppress(KeyboardInterrupt),  # which comes when the server has ended in good order
            making.beside(made.folder),
            announcing.announced(office, _tell),
        ):
            serving.serve(office, door)
    click.echo(f"Stopped. Start it again: basanite demo --data {made.folder}")


def _tell(line: str) -> None:
    click.echo(line)
    sys.stdout.flush()


def _walk(made: Demo, door: socket, *, as_json: bool) -> None:
    """Start, look at the pages over HTTP, say what was there, and stop."""
    from basanite.demo import building, facts, looking, serving

    address = serving.address_of(door)
    with building.opened(made.folder, address) as office:
        with serving.served(office, door):
            seen = looking.walk(address, made.login("ben"))
            left = looking.watch(office, partial(click.echo, err=as_json), WATCHED_SECONDS)
        held = facts.facts(office)
    if as_json:
        pages = [{"who": one.who, "path": one.path, "status": one.status, "title": one.title} for one in seen]
        sys.stdout.write(json_output.dumps({"address": address, "pages": pages, "left": left, **held}))
    else:
        _tell_walk(made, address, seen)
    if not all(one.good for one in seen):
        raise click.exceptions.Exit(1)


def _tell_walk(made: Demo, address: str, seen: list[Seen]) -> None:
    click.echo(f"The season was served at {address}, and looked at as a visitor and as a {seen[-1].who}:")
    for one in seen:
        click.echo(f"  {one.status}  {one.who:<22} {one.path:<32} {one.title}")
    click.echo("This is no terminal, so it was stopped. To use it in a browser, keep it running:")
    click.echo(f"  basanite demo --data {made.folder} --serve")
    click.echo(f"  basanite demo --data {made.folder} --logins")


def _show_built(made: Demo, *, as_json: bool) -> None:
    from basanite.demo import building, facts

    with building.opened(made.folder) as office:
        held = facts.facts(office)
    if as_json:
        told = {"data": str(made.folder), "made": made.made.isoformat(), **held, "logins": _plain(made)}
        sys.stdout.write(json_output.dumps(told))
        return
    click.echo(f"The season is in {made.folder}. Start it: basanite demo --data {made.folder}")
    for line in login_lines(made):
        click.echo(line)


def _show_logins(made: Demo, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json_output.dumps({"logins": _plain(made)}))
        return
    for line in login_lines(made):
        click.echo(line)


def _plain(made: Demo) -> list[dict[str, str]]:
    return [
        {"role": one.role, "mail": one.mail, "password": one.password, "secret": one.secret, "code": code_now(one)}
        for one in made.logins
    ]


def code_now(login: Any) -> str:
    """The code of this half minute; empty where no second factor is asked for."""
    import time

    from basanite.demo.cast import code_at

    return code_at(login.secret, time.time()) if login.secret else ""


def login_lines(made: Demo) -> list[str]:
    """How to sign in: one password for all, and for organisers a code."""
    lines = [f"Password of everybody: {made.logins[0].password}"]
    lines += [f"  {one.mail:<20} {one.role}{_second(one)}" for one in made.logins]
    again = f"basanite demo --data {made.folder} --logins"
    return [*lines, f"A code works once, for about a minute. A fresh one: {again}"]


def _second(login: Any) -> str:
    return f"; code {code_now(login)} (secret for an authenticator: {login.secret})" if login.secret else ""


def welcome(made: Demo, address: str, left: Sequence[str]) -> list[str]:
    """What stands on the terminal while the season runs."""
    from basanite.campaign.office import utc_now

    lines = ["", f"The season runs at {address}", ""]
    lines += [
        f"  Begin here: {address}/demo",
        "  Whom you can be, what to try as each of them, and a click to be them.",
        "",
    ]
    lines += [*login_lines(made), ""]
    if left:
        lines += ["Still being made, while you look around:", *(f"  {one}" for one in left)]
    if made.stale(utc_now()):
        lines.append(f"This demo was made on {made.made:%Y-%m-%d}: much of it is over. A fresh one: --reset")
    return [*lines, f"Mails are files in {made.folder / 'outbox'}. Stop with Ctrl-C.", ""]
