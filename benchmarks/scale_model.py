"""From a line of `results/scale.jsonl` to the model: its figures, the events it is asked about, and what carries them.

The numbers of the events are assumptions, not measurements. They stand here once, and the page shows them.
"""

from __future__ import annotations

from capacity import Call, Crew, Deployment, Event, Figures, Room, Scoring, foretell

LOOKS = {"list": 0.4, "one": 0.2, "board": 0.2, "windows": 0.1, "receipt": 0.1}
"""What users look at: assumed."""
EVENTS = (
    Event("10 teams", 10, 50, 1_000, last_hour=0.05, looking=0.8, calls_an_hour=120, mix=LOOKS),
    Event("1,000 teams", 1_000, 5_000, 50_000, last_hour=0.05, looking=0.5, calls_an_hour=60, mix=LOOKS),
    Event("public event", 20_000, 100_000, 1_000_000, last_hour=0.02, looking=0.3, calls_an_hour=30, mix=LOOKS),
)
SMALL = Deployment("sqlite", web=1, workers=1, disk=100e9, line=100e6)
"""One machine with two cores: the server on one, scoring on the other, an SQLite file."""
LARGER = Deployment("postgresql", web=2, workers=4, database=2, disk=1e12, line=500e6)
"""A team server: PostgreSQL, two web processes, four workers."""
STARTS = (SMALL, LARGER, LARGER)
"""What each event is held against."""


def figures_of(engine, one, *, small=False):
    """The figures of one engine; with `small` those of small files, as the run that checks the model has them."""
    sizes = one["growth"]["sizes"]
    kinds = sizes[0]["calls"]
    calls = {kind: {size["stored"]: _call(size["calls"][kind]) for size in sizes} for kind in kinds}
    spent = one["small"] if small else one["queue"][0]
    files = one["growth"]["files"]
    return Figures(
        engine,
        calls,
        Scoring(spent["place"], spent["cpu"], busy_writer(spent, one["small"]["idle"]), spent["database"]),
        Room(bytes_each(sizes), files["sent"], files["ours"]),
        idle=one["small"]["idle"],
        board_row=row_cost(one["growth"]),
        board_teams=one["growth"]["teams"]["all"],
    )


def busy_writer(spent, idle):
    """What a submission itself takes of the one writer: all that was taken, without what the worker's looking took."""
    return max(spent["writer"] - idle * spent["place"], 0.0)


def _call(spent):
    return Call(spent["web"], spent["database"], spent["writer"])


def bytes_each(sizes):
    """Bytes of the database for one more submission."""
    first, last = sizes[0], sizes[-1]
    return (last["bytes"] - first["bytes"]) / (last["stored"] - first["stored"])


def row_cost(growth):
    """CPU seconds of the web process for one more team on a board, from boards with few and with all teams."""
    teams, board = growth["teams"], growth["sizes"][0]["calls"]["board"]
    return max(board["web"] - growth["few"]["web"], 0.0) / (teams["all"] - teams["few"])


def foretold(engine, one):
    """What the model says of the run with workers and users, from figures that it was no part of."""
    said = one["check"]["crew"]
    crew = Crew(
        cores=said["cores"],
        workers=said["processes"],
        users=said["users"],
        thinking=said["thinking"],
        stored=said["stored"],
        mix=said["mix"],
        caller=one["growth"]["sizes"][-1]["calls"]["list"]["caller"],
    )
    return foretell(crew, figures_of(engine, one, small=True))
