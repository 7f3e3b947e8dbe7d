"""`basanite serve`: the server on one machine, with its worker beside it or elsewhere."""

from __future__ import annotations

import socket
import sys
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from basanite.cli.operating.office import data_option, opened, read_settings
from basanite.cli.options import as_json, example, say
from basanite.errors import SettingError
from basanite.reports.formats import json_output

if TYPE_CHECKING:
    from basanite.campaign.office import Office
    from basanite.campaign.settings import Settings

WAYS_OUT: Final = (
    "Passwords could be read on the way. Choose: (1) a certificate, in basanite.toml: [tls] with certificate and key; "
    '(2) a proxy that speaks https: proxies = ["its address"] and address = "https://..."; '
    "(3) plain http on purpose: --plain-http. Or serve this machine alone: --host 127.0.0.1."
)


@click.command(epilog=example("basanite serve --data season --port 8000 --check"))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="The port to listen on.")
@data_option
@click.option("--worker/--no-worker", default=True, show_default=True, help="Score in this process too.")
@click.option(
    "--plain-http", is_flag=True, help="Let other machines in without https: whoever is between reads everything."
)
@click.option("--check", is_flag=True, help="Only find out whether it could start; then stop.")
@as_json
def serve(**given: Any) -> None:
    """Run the server until it is stopped.

    What is under way when it is stopped is finished or kept, and goes on at the next start. Other settings stand in
    `basanite.toml` or in the environment. Links in mails begin with the setting `address`, or where it is not set with
    the address that the server listens on.

    Where other machines can reach it, it starts only with https: with the certificate in the settings `tls`, or behind
    a proxy that the settings name.
    """
    from basanite.server import listening

    call = Call(**given)
    settings = read_settings(call.data)
    refuse_demo(settings, call.host)
    refuse_plain(settings, call.host, allowed=call.plain_http)  # before anything is made
    secure = settings.tls.certificate is not None
    with opened(call.data) as office:
        if call.check:
            _tell(office, call, listening_at(call.host, call.port, secure=secure))
            return
        with bound(call.host, call.port) as line:
            host, port = line.getsockname()[:2]
            refuse_plain(settings, host, allowed=call.plain_http)  # a name may be somebody else's
            address = listening_at(call.host, port, secure=secure)
            office.remember_address(linked_at(address))
            _tell(office, call, address)
            listening.record(settings.data, port)
            run_server(office, line, worker=call.worker)


@dataclass(frozen=True)
class Call:
    """What `basanite serve` was called with."""

    host: str
    port: int
    data: Path | None
    worker: bool
    plain_http: bool
    check: bool
    as_json: bool


def refuse_demo(settings: Settings, host: str) -> None:
    """Demo accounts have known passwords: they are never served to other machines (X-15)."""
    if settings.demo and not is_loopback(host):
        raise SettingError(f"A demo is never served on {host}: its passwords are known. Use --host 127.0.0.1.")


def refuse_plain(settings: Settings, host: str, *, allowed: bool) -> None:
    """Passwords go to other machines by https alone, unless somebody said otherwise on the command line (X-36)."""
    from basanite.server.lines import tls_context

    if tls_context(settings.tls) is not None:
        if settings.address.lower().startswith("http:"):
            cure = "Let it begin with https:, or leave it out."
            raise SettingError(f"`address` is {settings.address}, but the certificate in `tls` makes it https. {cure}")
        return
    if is_loopback(host) or allowed or (settings.proxies and settings.https):
        return
    lacking = "`address` does not begin with https:" if settings.proxies else "no certificate and no proxy is set"
    raise SettingError(f"Other machines can reach {host or '0.0.0.0'}, and {lacking}. {WAYS_OUT}")


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


def listening_at(host: str, port: int, *, secure: bool = False) -> str:
    """The address that the server listens on."""
    name = f"[{host.strip('[]')}]" if ":" in host else host or "0.0.0.0"
    return f"{'https' if secure else 'http'}://{name}:{port}"


def linked_at(address: str) -> str:
    """What links begin with: a server that listens on all addresses is reached by the name of its machine.

    >>> linked_at("http://127.0.0.1:8410")
    'http://127.0.0.1:8410'
    """
    every = ("0.0.0.0", "[::]")
    return next((address.replace(one, socket.gethostname()) for one in every if f"//{one}:" in address), address)


def _tell(office: Office, call: Call, address: str) -> None:
    facts: dict[str, Any] = {
        "address": address,
        "data": str(office.settings.data),
        "demo": office.settings.demo,
        "secure_cookies": office.settings.https,
        "started": not call.check,
    }
    if call.plain_http and not is_loopback(call.host):
        sent = "" if office.settings.https else ", and cookies are sent without encryption"
        say(f"Warning: plain http for other machines: whoever is between reads passwords and results{sent}.")
    if call.as_json:
        sys.stdout.write(json_output.dumps(facts))
    elif call.check:
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
