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

from basanite import canonical
from basanite.cli.options import PATH, as_json, example
from basanite.errors import MissingExtraError
from basanite.extras import named_extras

if TYPE_CHECKING:
    from socket import socket

    from basanite.demo.build import Demo
    from basanite.demo.server import Seen

DATA = Path("basanite-demo")
OUT = Path("build/demo")
WATCHED_SECONDS = 120.0


@click.command(epilog=example("basanite demo --offline --out my-demo"))
@click.option("--data", type=PATH, default=DATA, show_default=True, help="The folder for the demo's data.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen on; 0 picks a free one.",
)
@click.option("--reset", is_flag=True, help="Delete an earlier demo and create a new one.")
@click.option("--build-only", is_flag=True, help="Create the demo without starting it.")
@click.option("--serve", is_flag=True, help="Serve until stopped, even without a terminal.")
@click.option("--logins", is_flag=True, help="Only print how to sign in to the existing demo, with fresh codes.")
@click.option("--offline", is_flag=True, help="No server: take an example evaluation from files to a report.")
@click.option("--out", type=PATH, default=OUT, show_default=True, help="With --offline: the folder to create.")
@as_json
def demo(
    data: Path,
    port: int,
    reset: bool,
    build_only: bool,
    serve: bool,
    logins: bool,
    offline: bool,
    out: Path,
    as_json: bool,
) -> None:
    """Start a demo campaign on this machine: teams, results, open windows, and accounts to sign in as.

    Everything in it goes through the functions that organizers and teams use, and is scored for real. It
    is created once, in --data, and reused by later starts. With --offline, an example evaluation goes from
    files to a report, and each step shows the command that does the same.
    """
    if offline:
        from basanite.cli.demo_tour import show_tour

        show_tour(out, json=as_json)
        return
    try:
        with named_extras():
            from basanite.demo import build, server
    except MissingExtraError as missing:
        raise MissingExtraError(f"{missing}; or use --offline") from missing
    say = partial(click.echo, err=as_json)
    if logins:
        _show_logins(_there(data), as_json=as_json)
        return
    if build_only:
        address = f"http://{server.HOST}:{port}" if port else ""
        _show_built(build.make(data, say, reset=reset, address=address), as_json=as_json)
        return
    with server.local_socket(port) as door:  # first of all: anyone who cannot have the port learns it at once
        made = build.make(data, say, reset=reset, address=server.address_of(door))
        if serve or (sys.stdout.isatty() and not as_json):
            _serve(made, door)
        else:
            _walk(made, door, as_json=as_json)


def _there(data: Path) -> Demo:
    from basanite.demo.build import Demo
    from basanite.errors import SettingError

    found = Demo.read(data)
    if found is None:
        raise SettingError(f"There is no demo in {data}. Make one: basanite demo --data {data} --build-only")
    return found


def _serve(made: Demo, door: socket) -> None:
    """Serve until Ctrl-C."""
    from basanite.demo import build, parts, server

    address = server.address_of(door)
    with build.open_demo(made.folder, address) as office:
        for line in welcome(made, address, server.to_come(office)):
            click.echo(line)
        sys.stdout.flush()
        with (
            suppress(KeyboardInterrupt),  # which comes when the server has ended in good order
            parts.beside(made.folder),
            server.announce_beside(office, _tell),
        ):
            server.serve(office, door)
    click.echo(f"Stopped. Start it again: basanite demo --data {made.folder}")


def _tell(line: str) -> None:
    click.echo(line)
    sys.stdout.flush()


def _walk(made: Demo, door: socket, *, as_json: bool) -> None:
    """Start, look at the pages over HTTP, say what was there, and stop."""
    from basanite.demo import build, server

    address = server.address_of(door)
    with build.open_demo(made.folder, address) as office:
        with server.serve_beside(office, door):
            seen = server.walk(address, made.login("ben"))
            left = server.watch(office, partial(click.echo, err=as_json), WATCHED_SECONDS)
        held = build.facts(office)
    if as_json:
        pages = [{"who": one.who, "path": one.path, "status": one.status, "title": one.title} for one in seen]
        sys.stdout.write(canonical.dumps({"address": address, "pages": pages, "left": left, **held}))
    else:
        _tell_walk(made, address, seen)
    if not all(one.good for one in seen):
        raise click.exceptions.Exit(1)


def _tell_walk(made: Demo, address: str, seen: list[Seen]) -> None:
    click.echo(f"The demo was served at {address} and visited as a visitor and as a {seen[-1].who}:")
    for one in seen:
        click.echo(f"  {one.status}  {one.who:<22} {one.path:<32} {one.title}")
    click.echo("This is not a terminal, so it was stopped. To use it in a browser, keep it running:")
    click.echo(f"  basanite demo --data {made.folder} --serve")
    click.echo(f"  basanite demo --data {made.folder} --logins")


def _show_built(made: Demo, *, as_json: bool) -> None:
    from basanite.demo import build

    with build.open_demo(made.folder) as office:
        held = build.facts(office)
    if as_json:
        told = {"data": str(made.folder), "made": made.made.isoformat(), **held, "logins": _plain(made)}
        sys.stdout.write(canonical.dumps(told))
        return
    click.echo(f"The demo is in {made.folder}. Start it: basanite demo --data {made.folder}")
    for line in login_lines(made):
        click.echo(line)


def _show_logins(made: Demo, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(canonical.dumps({"logins": _plain(made)}))
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

    from basanite.demo.stage import code_at

    return code_at(login.secret, time.time()) if login.secret else ""


def login_lines(made: Demo) -> list[str]:
    """How to sign in: one password for all, and for organisers a code."""
    lines = [f"Password of all accounts: {made.logins[0].password}"]
    lines += [f"  {one.mail:<20} {one.role}{_second(one)}" for one in made.logins]
    again = f"basanite demo --data {made.folder} --logins"
    return [*lines, f"A code works once, for about a minute. For a new code: {again}"]


def _second(login: Any) -> str:
    return f"; code {code_now(login)} (secret for an authenticator: {login.secret})" if login.secret else ""


def welcome(made: Demo, address: str, left: Sequence[str]) -> list[str]:
    """The lines to print while the demo runs."""
    from basanite.campaign.office import utc_now

    lines = ["", f"The demo runs at {address}", ""]
    lines += [
        f"  Start here: {address}/demo",
        "  A tour of the roles: one click signs you in, with suggestions what to try.",
        "",
    ]
    lines += [*login_lines(made), ""]
    if left:
        lines += ["Still being prepared in the background:", *(f"  {one}" for one in left)]
    if made.stale(utc_now()):
        lines.append(
            f"This demo was made on {made.made:%Y-%m-%d}, so most of its dates are past. Make a new one with --reset."
        )
    return [*lines, f"Emails are files in {made.folder / 'outbox'}. Stop with Ctrl-C.", ""]
