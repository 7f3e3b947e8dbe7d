"""The corpus of hostile programs submitted to a campaign, one after the other; prints a line of JSON for each.

It is a script, so that an ordinary user can run it as well as root:
`python -m tests.threats.hostile_submissions FOLDER [NAME …]`.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import textwrap
import time
from pathlib import Path
from typing import Any, Final

from tests.campaign.programs.conftest import Stage, archive, open_programs, window
from tests.threats.hostile_programs import MARKER, PROGRAMS, SECRET

from basanite.campaign.jobs import stages
from basanite.campaign.programs.run import bring_on, pass_on_due
from basanite.campaign.results import visibility
from basanite.campaign.store.tables import Charge, ProgramRun, Submission
from basanite.sandbox.runner import capability
from basanite.testing import SetClock, season, small_campaign_text, small_office

SEALED: Final = ("i1\tred", "i6\tblue")
"""What stands in sealed items and in no public one."""
OWN: Final = {
    "sealed items in the log": "print(open('in/items.tsv').read() * 9); sys.stderr.write(open('in/items.tsv').read())",
    "sealed items in the exit code": "os._exit(40 + len(open('in/items.tsv').read().split()[3]))",
    "sealed items in place of answers": "open('out/answers.tsv', 'w').write(open('in/items.tsv').read() * 2)",
    "sealed items in the running time": "time.sleep(0.2 * len(open('in/items.tsv').read().split()[3])); os._exit(1)",
    "sealed items in names of files": "[open('out/' + w, 'w') for w in open('in/items.tsv').read().split()]",
    "a link in place of answers": "os.symlink('/call/in/items.tsv', 'out/answers.tsv')",
    "a note for the next call": "print(os.path.exists('/tmp/note')); open('/tmp/note', 'w').write('x'); os._exit(1)",
    "a socket to the machine": "import socket; socket.create_connection(('127.0.0.1', 1)); print('connected')",
}
QUICK: Final = ("sealed items in the log", "sealed items in place of answers", "a link in place of answers",
                "a look through /proc and /sys", "processes without end")  # fmt: skip
HEAD: Final = """#!/usr/bin/env python3
import os, sys, time
HOST = {host!r}
if "s1" in open("in/items.tsv").read():
    open("out/answers.tsv", "w").write("id\\tlabel\\ns1\\tred\\n")
    sys.exit()
"""


def hostile(name: str, code: str, stage: Stage, host: Path) -> dict[str, Any]:
    """Submit one program and look at everything that its team can see, and at what is left of it."""
    mark = f"{MARKER}-{secrets.token_hex(8)}"  # others may run the same corpus on this machine
    run = HEAD.format(host=str(host)) + textwrap.dedent(code).replace(MARKER, mark)
    one = stage.submit(archive(run=run), label="hostile")
    begun, limited = time.monotonic(), stage.office.settings.limits
    state = bring_on(stage.office, one)
    stage.office.clock.forward(minutes=5)
    pass_on_due(stage.office)
    if state == "running":
        state = stages.validate(stage.office, one)["state"]
    with stage.office.reading() as session:
        row, ran = session.get_one(Submission, one), session.get_one(ProgramRun, one)
        cost = session.query(Charge).filter_by(submission_id=one).one().state
        seen = visibility.submission(session, stage.office, stage.viewer, one)
        told = repr(seen)
        if seen.program is not None and seen.program.smoke_log:
            told += visibility.program_log(session, stage.office, stage.viewer, one, "smoke")
        hidden = seen.program is not None and not seen.program.log and not seen.program.exact
        answers = stage.office.sealed.read(row.answers).decode("utf-8", "replace") if row.answers else ""
    leaked = [word for word in SEALED if word in told or word.replace("\t", "\\t") in told]
    contained = hidden and not leaked and SECRET not in told + answers and not _survives(mark)
    ended = state in ("invalid", "scoring", "scored") and row.fault == "" and cost in ("freed", "charged")
    paid = ran.compute > 0 and time.monotonic() - begun < 10 * limited.seconds
    return {"program": name, "contained": contained and ended and paid, "how": state, "cause": ran.cause,
            "peak": ran.peak // 2**20, "mode": capability().mode, "leaked": leaked}  # fmt: skip


def _survives(mark: str) -> bool:
    """Whether a process of the program is left on the machine."""
    time.sleep(0.1)
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                line = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line:
                return True
    return False


def main(folder: Path, chosen: list[str]) -> None:
    """Run the whole corpus, or the programs that are named."""
    folder.mkdir(parents=True)
    host = folder / "vault-of-the-machine"
    host.mkdir(mode=0o700)
    (host / "secret").write_text(SECRET)
    entries = {"memory": '"256 MiB"', "item_time": '"6 s"', "batch": "6", "reruns": "0", "output": '"64 MiB"'}
    text = small_campaign_text(more=window(**entries)).replace('released = "2018-04-02', 'released = "2018-01-01')
    office = small_office(folder / "office", SetClock())
    people = season(office, text)
    open_programs(office, people, folder)
    stage = Stage(office, people)
    for name, code in {**OWN, **{one.name: one.code for one in PROGRAMS if not one.learns}}.items():
        if not chosen or name in chosen:
            print(json.dumps(hostile(name, code, stage, host)), flush=True)
    office.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
