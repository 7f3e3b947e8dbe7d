"""`basanite serve` and `worker`: the server on one machine, with its worker beside it or elsewhere."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from basanite import canonical
from basanite.cli.office import data_option, open_office, read_settings
from basanite.cli.options import as_json, example, say
from basanite.errors import SettingError

if TYPE_CHECKING:
    from basanite.campaign.office import Office
    from basanite.campaign.settings import Settings


WAYS_OUT: Final = (
    "Passwords could be intercepted. Choose: (1) a certificate, in basanite.toml: [tls] with certificate and key; "
    '(2) a proxy that speaks https: proxies = ["its address"] and address = "https://..."; '
    "(3) plain http on purpose: --plain-http. Or serve this machine alone: --host 127.0.0.1."
)


@click.command(epilog=example("basanite serve --data season --port 8000 --check"))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="The port to listen on.")
@data_option
@click.option("--worker/--no-worker", default=True, show_default=True, help="Also run jobs in this process.")
@click.option(
    "--plain-http", is_flag=True, help="Accept other machines without https: anyone on the network can read everything."
)
@click.option("--check", is_flag=True, help="Only check whether the server could start.")
@as_json
def serve(**given: Any) -> None:
    """Run the server until it is stopped.

    Work in progress is finished or resumes at the next start. Other settings are read from
    `basanite.toml` or the environment. Links in mails begin with the setting `address`, by default the
    address that the server listens on.

    If other machines can reach it, it requires https: a certificate in the settings `tls`, or a
    proxy that the settings name.
    """
    from basanite.server import connections
    from basanite.server.accounts.first_administrator import setup_address

    call = Call(**given)
    settings = read_settings(call.data)
    if settings.demo and not is_loopback(call.host):  # never served to other machines
        raise SettingError(f"A demo is never served on {call.host}: its passwords are known. Use --host 127.0.0.1.")
    refuse_plain(settings, call.host, allowed=call.plain_http)  # before anything is made
    secure = settings.tls.certificate is not None
    with open_office(call.data) as office:
        if call.check:
            _tell(office, call, listening_at(call.host, call.port, secure=secure))
            return
        with listening_socket(call.host, call.port) as line:
            host, port = line.getsockname()[:2]
            refuse_plain(settings, host, allowed=call.plain_http)  # a name may be somebody else's
            address = listening_at(call.host, port, secure=secure)
            office.remember_address(linked_at(address))
            _tell(office, call, address, setup_address(office))
            connections.record_port(settings.data, port)
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


def refuse_plain(settings: Settings, host: str, *, allowed: bool) -> None:
    """Passwords go to other machines by https alone, unless somebody said otherwise on the command line (X-36)."""
    from basanite.server.connections import tls_context

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


def listening_socket(host: str, port: int) -> socket.socket:
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


def _tell(office: Office, call: Call, address: str, setup: str = "") -> None:
    facts: dict[str, Any] = {
        "address": address,
        "data": str(office.settings.data),
        "demo": office.settings.demo,
        "secure_cookies": office.settings.https,
        "started": not call.check,
    }
    if call.plain_http and not is_loopback(call.host):
        sent = "" if office.settings.https else ", and cookies are sent without encryption"
        say(f"Warning: plain http for other machines: anyone on the network can read passwords and results{sent}.")
    if call.as_json:
        sys.stdout.write(canonical.dumps(facts | ({"setup": setup} if setup else {})))
    elif call.check:
        click.echo(f"It can start: {facts['address']}, data in {facts['data']}")
    else:
        click.echo(f"Basanite is at {facts['address']}, data in {facts['data']}. Stop it with Ctrl-C.")
        if setup:
            click.echo(f"There is no administrator yet. Create one (the link works once, for a day): {setup}")
    sys.stdout.flush()


def run_server(office: Office, line: socket.socket, *, worker: bool) -> None:
    """Serve until a signal comes; then take no more calls, and let those under way end."""
    import uvicorn

    from basanite.server.app import make_app
    from basanite.server.connections import server_config
    from basanite.server.telemetry import start_logging

    start_logging()
    host, port = line.getsockname()[:2]
    uvicorn.Server(server_config(make_app(office, worker=worker), office.settings, host, port)).run(sockets=[line])


@click.command(epilog=example("basanite worker --data season --until-idle"))
@data_option
@click.option("--until-idle", is_flag=True, help="Stop when no job is left.")
@click.option(
    "--limit", type=click.FloatRange(min=1), default=3600, show_default=True, help="With --until-idle: seconds."
)
@as_json
def worker(data: Path | None, until_idle: bool, limit: float, as_json: bool) -> None:
    """Run background jobs until stopped: validate, score, compare, write receipts, send mail.

    If a worker is killed, another one or its next start takes over its jobs.
    """
    with open_office(data) as office:
        from basanite.campaign.jobs.worker import running
        from basanite.campaign.jobs.worker import until_idle as idle

        with running(office):
            left = idle(office, limit) if until_idle else _until_stopped()
    if as_json:
        sys.stdout.write(canonical.dumps({"idle": until_idle, "left": left}))
    else:
        click.echo("No job is left." if left == 0 else f"Stopped; {left} jobs are left for others.")


def _until_stopped() -> int:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    while not stop.wait(1.0):
        pass
    return 0
