"""What one call of the server costs, by its kind and by how many submissions are stored: real processes on loopback.

Each kind is called some times in a row. The median is what a caller waits; CPU seconds are those of the web process, of
PostgreSQL's processes and of the caller, from the system's account of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from contextlib import contextmanager
from itertools import cycle
from statistics import median

from scale_counting import cpu_of, cpu_of_database, telling, told
from scale_rows import fill, template_of

TEAMS, FEW = 40, 10
"""Teams on the board, and those that are on it first: what one more row costs."""
OWN = 220
"""Submissions of the team that asks, from the beginning: a page shows it as many of them at every size."""
QUICK_LIMITS = {"poll_seconds": 0.5, "duty_seconds": 1.0}
BASE = "/api/v1/campaigns/small/"
BOARD = "leaderboard?window=dev&task=CLIR&language=1A"


class Stage:
    """A season with a board of many teams, one submission of each kind scored for real, and processes on it."""

    def __init__(self, home, pack, *, commit, url=None, server=None):
        from tests.offices.machines import Machines
        from tests.offices.submitting import crowd, plan_load

        from basanite.testing import small_office

        self.home, self.pack, self.commit, self.database = home, pack, commit, server
        self.office = small_office(home, url=url, limits=QUICK_LIMITS)
        self.teams = crowd(self.office, pack.key, teams=TEAMS)
        self.machines = Machines(self.office, home)
        self.tokens = plan_load(self.office, "", self.teams, (), count=0, pause=0).tokens
        self.stored = 0

    def prepare(self):
        """Score one primary and one other run for real; they are what all others are copied from."""
        first = [submitted(self.office, self.teams.members[0], self.pack.perfect, kind) for kind in KINDS]
        with self.working():
            wait(self, lambda: settled(self.office, first), "the first submissions were not scored")
        self.primary, self.other = (template_of(self.office, one) for one in first)
        self.stored = len(first)

    def fill(self, template, members, count, **fresh):
        """So many copies; `fresh` is what their own rows have otherwise."""
        fill(self.office, template, members, count, fresh=fresh)
        self.stored += count

    def release(self):
        """Let everybody see the board."""
        from basanite.campaign.store.tables import Release

        said = {"campaign_id": self.teams.campaign_id, "window": "dev", "by": "x", "open_appeals": []}
        with self.office.writing() as session:
            session.add_all(Release(level=level, at=self.office.clock(), **said) for level in ("certification", "top"))

    def compare(self):
        """Let the comparison behind the board be computed, by a worker that finds that it is due."""
        from basanite.campaign.store.tables import Board

        before = count_of(self.office, Board)
        with self.working():
            wait(self, lambda: count_of(self.office, Board) > before, "the board was not computed")

    @contextmanager
    def working(self):
        """A worker beside the block."""
        self.machines.worker("worker")
        yield
        self.machines.kill("worker")

    @contextmanager
    def served(self):
        """A server beside the block; gives its address."""
        from tests.offices.machines import free_port, serve

        port = free_port()
        self.account = self.home / "server.held"
        self.machines.start("server", telling, str(self.account), serve, self.office.settings, port)
        wait(self, lambda: answers(f"http://127.0.0.1:{port}"), "the server did not start")
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            self.machines.kill("server")

    def close(self):
        """End the processes."""
        self.machines.stop_all()
        self.office.close()


KINDS = ("primary", "contrastive")


def submitted(office, member, path, kind):
    """Submit a file as a primary or another run; gives its id."""
    from basanite.campaign.intake.acceptance import Arrival, accept
    from basanite.campaign.model.plan import Declared

    stored = office.files.take(path)
    declared = Declared("CLIR", "run", type=kind, language="1A", queryset="QUERY1", dataset=("DEV",))
    with office.writing() as session:
        return accept(session, office, member.actor, Arrival(member.team, declared, stored)).id


def settled(office, ids):
    """Whether submissions are scored, their receipts signed and their mails sent."""
    from sqlalchemy import func, select

    from basanite.campaign.store.tables import Message, Submission

    with office.reading() as session:
        rows = session.scalars(select(Submission).where(Submission.id.in_(ids))).all()
        waiting = session.scalar(select(func.count()).where(Message.state == "waiting"))
    return not waiting and all(row.state == "scored" and not row.unsigned for row in rows)


def count_of(office, table):
    """How many rows there are."""
    from sqlalchemy import func, select

    with office.reading() as session:
        return session.scalar(select(func.count()).select_from(table))


def wait(stage, check, complaint, seconds=120):
    """Wait for something, or stop with what the processes said."""
    from tests.offices.machines import wait_until

    if not wait_until(check, seconds, 0.1):
        raise SystemExit(f"{complaint}\n{stage.machines.logs()}")


def answers(address):
    """Whether a server is there."""
    import httpx2

    try:
        return httpx2.get(f"{address}/api/v1/campaigns").status_code == 200
    except httpx2.HTTPError:
        return False


def growth(stage, sizes, repeats, tell):
    """The costs of all calls at each size, with the size of the database; and of the board with fewer teams on it."""
    stage.prepare()
    members, same = stage.teams.members, {"sha256": stage.primary.submission["sha256"]}
    stage.fill(stage.primary, members[1:FEW], FEW - 1, **same)
    stage.release()
    stage.compare()
    few = measured(stage, repeats, only=("board",))["board"]
    stage.fill(stage.primary, members[FEW:], TEAMS - FEW, **same)
    stage.compare()
    stage.fill(stage.other, members[:1], OWN)
    found = []
    for size in sizes:
        stage.fill(stage.other, members, size - stage.stored)
        found.append({"stored": size, "bytes": database_bytes(stage.office), "round": round_of(stage)})
        found[-1]["calls"] = measured(stage, repeats)
        tell(found[-1])
    return {"few": few, "teams": {"few": FEW, "all": TEAMS}, "sizes": found, "files": file_bytes(stage)}


def round_of(stage, repeats=5):
    """What a round of a worker's duties takes when nothing is due: the median, and CPU seconds with the database's."""
    from basanite.campaign.duties import all_duties
    from basanite.campaign.jobs.worker import see_to

    duties, seconds = all_duties(), []
    see_to(stage.office, duties)
    before = time.process_time() + cpu_of_database(stage.database)
    for _ in range(repeats):
        began = time.perf_counter()
        see_to(stage.office, duties)
        seconds.append(time.perf_counter() - began)
    spent = time.process_time() + cpu_of_database(stage.database) - before
    return {"wait": median(seconds), "cpu": spent / repeats}


def measured(stage, repeats, only=()):
    """What each kind of call costs now."""
    settle(stage.office)
    found = {}
    with stage.served() as address:
        for name, call in calls_of(stage).items():
            if not only or name in only:
                times = min(repeats, SUBMITTED) if name == "submit" else repeats
                found[name] = asyncio.run(cost_of(stage, address, call, times))
                stage.stored += times + WARM if name == "submit" else 0
    return found


def calls_of(stage):
    """One function for each kind of call: an endless row of requests as method, path and more."""
    ids = cycle(some_of(stage.office, stage.teams.members[0].team))
    content = stage.pack.silent.read_bytes()
    said = {"task": "CLIR", "label": "load", "language": "1A", "queryset": "QUERY1", "dataset": "DEV"}
    said["sha256"] = hashlib.sha256(content).hexdigest()
    return {
        "windows": lambda: ("GET", BASE + "windows", {}),
        "list": lambda: ("GET", BASE + "submissions?limit=20", {}),
        "one": lambda: ("GET", BASE + f"submissions/{next(ids)}", {}),
        "board": lambda: ("GET", BASE + BOARD, {}),
        "receipt": lambda: ("GET", BASE + f"submissions/{next(ids)}/receipts/intake", {}),
        "submit": lambda: ("POST", BASE + "submissions", {"params": said, "content": content}),
    }


def some_of(office, team, most=20):
    """Some submissions of a team, spread over all of its time."""
    from sqlalchemy import select

    from basanite.campaign.store.tables import Submission

    with office.reading() as session:
        found = session.scalars(select(Submission.id).where(Submission.team_id == team).order_by(Submission.number))
        ids = found.all()
    return ids[:: max(len(ids) // most, 1)]


WARM, SUBMITTED = 3, 8
"""Calls that are not counted, and how often at the most something is submitted: all of it is scored later."""


async def cost_of(stage, address, call, repeats):
    """Call so often, one after the other, by a member of one team; the first calls only warm up."""
    import httpx2

    headers = {"Authorization": f"Bearer {stage.tokens[0]}"}
    process = stage.machines.processes["server"].pid
    async with httpx2.AsyncClient(base_url=address, headers=headers, timeout=120) as client:
        await timed(client, call, WARM)
        before = account(stage, process)
        seconds = await timed(client, call, repeats)
        await asyncio.sleep(0.25)
        after = account(stage, process)
    spent = {name: (after[name] - before[name]) / repeats for name in before}
    return {"wait": median(seconds), "writer": writer(spent, stage.commit), **spent}


async def timed(client, call, repeats):
    """The seconds of each of some calls, which all must go well."""
    seconds = []
    for _ in range(repeats):
        method, path, more = call()
        began = time.perf_counter()
        answer = await client.request(method, path, **more)
        seconds.append(time.perf_counter() - began)
        if answer.status_code >= 400:
            raise SystemExit(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
    return seconds


def account(stage, process):
    """What has been spent so far, and by whom."""
    held = told(stage.account)
    return {
        "web": cpu_of(process),
        "database": cpu_of_database(stage.database),
        "caller": time.process_time(),
        "held": held["seconds"],
        "held_cpu": held["cpu"],
        "turns": held["turns"],
    }


def writer(spent, commit):
    """Seconds that others wait for the writers' place on a machine that does nothing else, at the most.

    That is no more than was seen, and no more than the holder's processor time, that of PostgreSQL, and a commit for
    each turn.
    """
    if not spent["turns"]:
        return 0.0
    return min(spent["held"], spent["held_cpu"] + spent["database"] + spent["turns"] * commit)


def settle(office):
    """Let the database do what it does by itself in a quiet hour: count its rows, write its log into its file."""
    from sqlalchemy import text

    statement = "PRAGMA wal_checkpoint(TRUNCATE)" if office.database.is_sqlite else "VACUUM ANALYZE"
    with office.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))


def database_bytes(office):
    """The size of the database."""
    from sqlalchemy import text

    settle(office)
    pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    question = pages if office.database.is_sqlite else "SELECT pg_database_size(current_database())"
    with office.reading() as session:
        return int(session.execute(text(question)).scalar())


def file_bytes(stage):
    """The bytes of the files of one submission: what was sent, and what we wrote about it."""
    rows = [row for table, row, _ in stage.other.rows if table.name in ("submissions", "results")]
    digests = [row.get(name) for row in rows for name in ("problems_digest", "digest", "figures")]
    ours = sum(stage.office.files.size(digest) for digest in digests if digest)
    return {"sent": stage.other.submission["size"], "ours": ours}
