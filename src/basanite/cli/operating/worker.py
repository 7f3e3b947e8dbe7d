"""`basanite worker`: a process that validates, scores and sends; start as many as the machines carry."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

import click

from basanite.cli.operating.office import data_option, opened
from basanite.cli.options import as_json, example
from basanite.reports.formats import json_output


@click.command(epilog=example("basanite worker --data season --until-idle"))
@data_option
@click.option("--until-idle", is_flag=True, help="Do what there is to do, then stop.")
@click.option(
    "--limit", type=click.FloatRange(min=1), default=3600, show_default=True, help="With --until-idle: seconds."
)
@as_json
def worker(data: Path | None, until_idle: bool, limit: float, as_json: bool) -> None:
    """Run jobs until stopped: validate, score, compare, write receipts, send mail.

    A worker that is killed loses nothing: another one, or the next start, takes its jobs over.
    """
    with opened(data) as office:
        from basanite.campaign.jobs.worker import running
        from basanite.campaign.jobs.worker import until_idle as idle

        with running(office):
            left = idle(office, limit) if until_idle else _until_stopped()
    if as_json:
        sys.stdout.write(json_output.dumps({"idle": until_idle, "left": left}))
    else:
        click.echo("Nothing is left to do." if left == 0 else f"Stopped; {left} jobs are left for others.")


def _until_stopped() -> int:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    while not stop.wait(1.0):
        pass
    return 0
