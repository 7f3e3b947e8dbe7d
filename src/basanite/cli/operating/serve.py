"""`basanite serve`: the server on one machine, with its worker beside it or elsewhere."""

from __future__ import annotations

import socket
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.operating.office import data_option, opened
from basanite.cli.options import as_json, example
from basanite.errors import SettingError
from basanite.reports.formats import json_output

if TYPE_CHECKING:
    from basanite.campaign.office import Office


@click.command(epilog=example("basanite serve --data season --port 8000 --check"))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="The port to listen on.")
@data_option
@click.option("--worker/--no-worker", default=True, show_default=True, help="Score in this process too.")
@click.option("--check", is_flag=True, help="Only find out whether it could start; then stop.")
@as_json
def serve(host: str, port: int, data: Path | None, worker: bool, check: bool, as_json: bool) -> None:
    """Run the server until it is stopped.

    What is under way when it is stopped is finished or kept, and goes on at the next start. Other settings stand in
    `basanite.toml` or in the environment. Links in mails begin with the setting `address`, or where it is not set with
    the address that the server listens on.
    """
    with opened(data) as office:
        refuse_demo(office, host)
        if check:
            _tell(office, listening_at(host, port), check, as_json)
            return
        with bound(host, port) as line:
            address = listening_at(host, line.getsockname()[1])
            office.remember_address(linked_at(address))
            _tell(office, address, check, as_json)
            run_server(office, line, worker=worker)


def refuse_demo(office: Office, host: str) -> None:
    """Demo accounts have known passwords: they are never served to other machines (X-15)."""
    if office.settings.demo and not is_loopback(host):
        raise SettingError(f"A demo is never served on {host}: its passwords are known. Use --host 127.0.0.1.")


def is_loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens, bound before anybody is told its address: port 0 is any that is free."""
    try:
        return socket.create_server(
            (host.strip("[]"), port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except OSError as error:
        cause = error.strerror or str(error)
        raise SettingError(f"{listening_at(host, port)} cannot be used: {cause}. Choose another --port.") from None


def listening_at(host: str, port: int) -> str:
    """The address that the server listens on."""
    return f"http://[{host.strip('[]')}]:{port}" if ":" in host else f"http://{host}:{port}"


def linked_at(address: str) -> str:
    """What links begin with: a server that listens on all addresses is reached by the name of its machine.

    >>> linked_at("http://127.0.0.1:8410")
    'http://127.0.0.1:8410'
    """
    every = ("0.0.0.0", "[::]")
    return next((address.replace(one, socket.gethostname()) for one in every if f"//{one}:" in address), address)


def _tell(office: Office, address: str, check: bool, json: bool) -> None:
    facts: dict[str, Any] = {
        "address": address,
        "data": str(office.settings.data),
        "demo": office.settings.demo,
        "started": not check,
    }
    if json:
        sys.stdout.write(json_output.dumps(facts))
    elif check:
        click.echo(f"It can start: {facts['address']}, data in {facts['data']}")
    else:
        click.echo(f"Basanite is at {facts['address']}, data in {facts['data']}. Stop it with Ctrl-C.")
    sys.stdout.flush()


def run_server(office: Office, line: socket.socket, *, worker: bool) -> None:
    """Serve until a signal comes; then take no more calls, and let those under way end."""
    import uvicorn

    from basanite.server.app import make_app
    from basanite.server.lines import configured
    from basanite.server.observing import start_logging

    start_logging()
    host, port = line.getsockname()[:2]
    uvicorn.Server(configured(make_app(office, worker=worker), office.settings, host, port)).run(sockets=[line])
