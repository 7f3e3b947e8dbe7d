"""The tables of the capacity page, from the newest full run of `scale.py`: made by a program, so that they agree.

Each stands on the page between two comments that name it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from capacity import COMFORTABLE, call_at, first_full, headroom, loads, looks, wait_for_last, wanted
from scale_model import EVENTS, STARTS, bytes_each, figures_of, foretold

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "scale.jsonl", ROOT / "docs" / "explanation" / "capacity.md"
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
CALLS = {
    "windows": "what is open now",
    "list": "list of 20 submissions",
    "one": "one submission",
    "board": "board of 40 teams",
    "receipt": "receipt",
    "submit": "submit",
}
PARTS = {
    "web": "web processes",
    "workers": "workers",
    "writer": "database writer",
    "database": "database cores",
    "disk": "disk, space",
    "line": "disk, speed",
}


def newest(path=RESULTS):
    """The newest full run that is recorded."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    full = [line for line in lines if not line["quick"]]
    if not full:
        raise SystemExit(f"{path.name} holds no full run yet: python benchmarks/scale.py")
    return full[-1]


def tables(line):
    """Every table of the page by its name."""
    engines = line["engines"]
    found = {
        "queue": queue_table(engines),
        "growth": growth_table(engines),
        "storage": storage_table(engines),
        "comparing": comparing_table(line["comparing"]),
        "check": check_table(engines),
    }
    if len(engines) > 1:
        found |= {"events": events_table(), "use": use_table(line), "add": add_table(line)}
    return found


def page_with(text, line):
    """A page with its tables made again."""
    for name, table in tables(line).items():
        pattern = re.compile(rf"(<!-- {name}: .*? -->\n).*?(\n<!-- end of {name} -->)", re.DOTALL)
        text, count = pattern.subn(lambda found, table=table: f"{found[1]}\n{table}\n{found[2]}", text)
        if count != 1:
            raise SystemExit(f"the page has {count} places for the table {name!r} in place of one")
    return text


def write():
    """Write the tables of the newest full run into the page."""
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), newest()), encoding="utf-8")


def markdown(head, rows, words=1):
    """A table; the first column or columns are words, the others are numbers."""
    lines = [head, [*["---"] * words, *["---:"] * (len(head) - words)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def queue_table(engines):
    """How fast the queue is, with one worker and with two."""
    rows = [
        (NAMES[name], one["processes"], f"{one['rate']:.2f}", number(one["cpu"]), milli(one["writer"]))
        for name, engine in engines.items()
        for one in engine["queue"]
    ]
    head = ("engine", "worker processes", "submissions a second", "CPU s of each", "writer, ms of each")
    return markdown(head, rows)


def growth_table(engines):
    """CPU time of each call by how many submissions are stored, and the growth from the least to the most."""
    sizes = [size["stored"] for size in next(iter(engines.values()))["growth"]["sizes"]]
    rows = []
    for name, one in engines.items():
        points = one["growth"]["sizes"]
        for call, words in CALLS.items():
            spent = [spent_on(size["calls"][call]) for size in points]
            rows.append((NAMES[name], words, *map(milli, spent), f"{grown(one, call):.2f}"))
        spent = [size["round"]["cpu"] for size in points]
        rows.append((NAMES[name], "worker's round", *map(milli, spent), f"{grown_round(one):.2f}"))
    return markdown(("engine", "CPU ms of", *(f"{size:,} stored" for size in sizes), "growth"), rows, words=2)


def storage_table(engines):
    """Bytes of one submission besides the file that was sent."""
    rows = []
    for name, one in engines.items():
        sizes = one["growth"]["sizes"]
        rows.append((NAMES[name], kilo(bytes_each(sizes)), kilo(one["growth"]["files"]["ours"])))
    return markdown(("engine", "database, kB a submission", "result files, kB a submission"), rows)


def comparing_table(found):
    """What the comparison behind a board costs."""
    rows = [
        (
            f"{one['systems']:,}",
            f"{one['systems'] * (one['systems'] - 1) // 2:,}",
            number(one["cpu"]),
            number(one["memory"] / 1e6),
            number(one["bytes"] / 1e6),
        )
        for one in found
    ]
    return markdown(("teams on the board", "pairs", "CPU s", "memory, MB", "written, MB"), rows)


def check_table(engines):
    """What the model predicts of a run, and what was measured."""
    rows = [
        (NAMES[name], what, number(said), number(seen), f"{said / seen:.2f}")
        for name, one in engines.items()
        for what, (said, seen) in checked(one, name).items()
    ]
    return markdown(
        ("engine", "with users beside two workers", "predicted", "measured", "predicted / measured"), rows, words=2
    )


def checked(one, engine=""):
    """Predicted and measured figures by name."""
    said, seen = foretold(engine, one), one["check"]["seen"]
    return {
        "calls a second": (said.calls_a_second, seen["per_second"]),
        "mean wait of a call, s": (said.wait, seen["mean"]),
        "submissions scored a second": (said.scored_a_second, one["check"]["queue"]["rate"]),
    }


def events_table():
    """What the model assumes of each event."""
    rows = {
        "teams": [f"{event.teams:,}" for event in EVENTS],
        "users": [f"{event.users:,}" for event in EVENTS],
        "submissions": [f"{event.submissions:,}" for event in EVENTS],
        "share of them in the last hour": [f"{event.last_hour:.0%}" for event in EVENTS],
        "share of users who view pages in it": [f"{event.looking:.0%}" for event in EVENTS],
        "page views of each of them": [f"{event.calls_an_hour:g}" for event in EVENTS],
        "submissions a second": [number(event.submissions_a_second) for event in EVENTS],
        "page views a second": [number(event.calls_a_second) for event in EVENTS],
    }
    return markdown(("assumed", *(event.name for event in EVENTS)), [(name, *row) for name, row in rows.items()])


def cases(line):
    """Each event with what it is held against, and the figures of that engine."""
    for event, start in zip(EVENTS, STARTS, strict=True):
        figures = figures_of(start.engine, line["engines"][start.engine])
        sized = type(event)(**{**vars(event), "sent_bytes": line.get("archive", 0)})
        yield sized, start, figures


def use_table(line):
    """Utilisation of every part in the last hour, on what each event starts with."""
    found = [
        (event, start, {load.part: load for load in loads(event, start, fit)}) for event, start, fit in cases(line)
    ]
    rows = [("engine", *(NAMES[start.engine] for _, start, _ in found))]
    rows.append(("web processes, workers", *(f"{start.web}, {start.workers}" for _, start, _ in found)))
    for part, words in PARTS.items():
        used = [percent(there[part].utilisation) if part in there else "" for _, _, there in found]
        rows.append((f"{words}, used", *used))
    full = [first_full(tuple(there.values())) for _, _, there in found]
    rows.append(("saturates first", *(PARTS[load.part] for load in full)))
    rows.append(
        ("event could be larger by a factor of", *(number(headroom(tuple(there.values()))) for _, _, there in found))
    )
    waits = [duration(wait_for_last(event, start, fit)) for event, start, fit in cases(line)]
    rows.append(("last submission scored after", *waits))
    return markdown(("in the last hour", *(event.name for event, _, _ in found)), rows)


def add_table(line):
    """What each event needs, so that every part that can be added to is used at the most so much."""
    found = [(event, wanted(event, start, fit), fit) for event, start, fit in cases(line)]
    rows = {
        "web processes": [f"{need.web:,}" for _, need, _ in found],
        "workers": [f"{need.workers:,}" for _, need, _ in found],
        "cores of PostgreSQL": ["" if need.engine == "sqlite" else f"{need.database:,}" for _, need, _ in found],
        "disk, GB": [f"{need.disk / 1e9:,.0f}" for _, need, _ in found],
        "disk, MB a second": [f"{need.line / 1e6:,.0f}" for _, need, _ in found],
        "database writer, used (cannot be scaled)": [percent(_writer(*each)) for each in found],
        "one page view, mean of all kinds, CPU ms": [milli(looks(event, fit).web) for event, _, fit in found],
        "one view of the board, CPU ms": [milli(_board(event, fit)) for event, _, fit in found],
        "last submission scored after": [duration(wait_for_last(*each)) for each in found],
    }
    head = (f"to be used {COMFORTABLE:.0%} at the most", *(event.name for event, _, _ in found))
    return markdown(head, [(name, *row) for name, row in rows.items()])


def _writer(event, deployment, figures):
    return next(load.utilisation for load in loads(event, deployment, figures) if load.part == "writer")


def _board(event, figures):
    return call_at(figures.calls["board"], event.submissions).web + figures.board_row * (
        event.teams - figures.board_teams
    )


def spent_on(call):
    """CPU seconds of a call, in the web process and in the database."""
    return call["web"] + call["database"]


def grown(one, call):
    """How many times as much a call costs at the most stored submissions as at the fewest."""
    sizes = one["growth"]["sizes"]
    return spent_on(sizes[-1]["calls"][call]) / spent_on(sizes[0]["calls"][call])


def grown_round(one):
    """The same of a worker's round."""
    sizes = one["growth"]["sizes"]
    return sizes[-1]["round"]["cpu"] / sizes[0]["round"]["cpu"]


def number(value):
    """Three figures.

    >>> number(0.01234), number(12.34), number(1234.5)
    ('0.0123', '12.3', '1,234')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def milli(seconds):
    """Seconds as milliseconds."""
    return number(1000 * seconds)


def kilo(count):
    """Bytes as kilobytes."""
    return number(count / 1000)


def percent(share):
    """A share.

    >>> percent(0.0123), percent(1.5)
    ('1.2%', '150%')
    """
    return f"{100 * share:.2g}%" if share < 0.1 else f"{100 * share:,.0f}%"


def duration(seconds):
    """How long, in words.

    >>> duration(1.25), duration(300), duration(9000)
    ('1.2 s', '5 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 6000 else f"{seconds / 3600:,.2g} h"


def rounded(value):
    """A value with five figures in all of its numbers."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value
