"""What operators see: one JSON line a call and metrics for Prometheus, without names, secrets or scores."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any, TextIO

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.types import Scope

from basanite.campaign.office import Office
from basanite.campaign.store.database import database_time
from basanite.campaign.store.tables import Submission, Upload
from basanite.problems import visible

LOG = structlog.get_logger("basanite.server")
HIDDEN = frozenset({"authorization", "cookie", "password", "token", "secret", "csrf", "code"})
LONGEST = 500
SECONDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)


def start_logging(stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Write JSON lines, one a call or event, to standard error unless told otherwise."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            harmless,
            structlog.processors.JSONRenderer(ensure_ascii=True),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(stream or sys.stderr),
        cache_logger_on_first_use=False,
    )


def harmless(logger: Any, method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The same line with secrets left out, and strangers' strings bounded and unable to act (X-14)."""
    return {name: "(hidden)" if name.lower() in HIDDEN else _harmless_value(value) for name, value in line.items()}


def _harmless_value(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value[:LONGEST])
    if isinstance(value, list | tuple):
        return [_harmless_value(part) for part in value[:50]]
    return value if isinstance(value, int | float | bool | None) else visible(str(value)[:LONGEST])


class Observing:
    """Counts calls by route (never by address, which may hold an id) and reads the state of the season when asked."""

    def __init__(self, office: Office) -> None:
        self.registry = CollectorRegistry()
        self.calls = Counter(
            "basanite_http_requests", "Calls served.", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "basanite_http_seconds", "Time to serve a call.", ("route",), buckets=SECONDS, registry=self.registry
        )
        self.registry.register(_Season(office))

    def note_answer(self, scope: Scope, status: int, seconds: float) -> None:
        """Note one call that has been answered."""
        method = scope["method"] if scope["method"] in METHODS else "other"
        whole = scope.get("fastapi", {}).get("effective_route_context")
        route = str(getattr(whole or scope.get("route"), "path", "none"))  # what no route has is counted as one
        self.calls.labels(method, route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)
        LOG.info("call", method=method, route=route, status=status, milliseconds=round(1000 * seconds, 1))

    def text(self) -> bytes:
        """All metrics in the format that Prometheus reads."""
        return generate_latest(self.registry)


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class _Season(Collector):
    """Submissions by state, uploads under way, workers at work: counted when asked for."""

    def __init__(self, office: Office) -> None:
        self.office = office

    def describe(self) -> Iterable[Any]:
        """Nothing: registering must not touch the database."""
        return ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The numbers now; none of them depends on a reference (P-12)."""
        yield _labelled_gauge("basanite_submissions", "Submissions.", "state", self._counts(Submission.state))
        yield _labelled_gauge("basanite_uploads", "Uploads.", "state", self._counts(Upload.state))
        family = GaugeMetricFamily("basanite_workers", "Workers heard of lately.")
        family.add_metric([], self._workers())
        yield family

    def _counts(self, column: Any) -> dict[str, int]:
        with self.office.reading() as session:
            rows = session.execute(select(column, func.count()).group_by(column))
            counts = {str(state): int(number) for state, number in rows}
        merged = sum(counts.pop(state, 0) for state in ("scoring", "scored"))
        return counts | ({"valid": merged} if merged else {})

    def _workers(self) -> int:
        with self.office.reading() as session:
            return len(alive_workers(session, self.office))


def alive_workers(session: Session, office: Office) -> list[str]:
    """The ids of the workers that were heard of lately enough to be counted on, by the time in the database."""
    from basanite.campaign.jobs.worker import alive  # brings the engine of the jobs, which not every command needs

    now, silent = database_time(session), office.settings.limits.silent_seconds
    return [worker.id for worker in alive(session, now, silent)]


def _labelled_gauge(name: str, words: str, label: str, counts: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, words, labels=[label])
    for value, number in sorted(counts.items()):
        family.add_metric([value], number)
    return family
