"""No bytes of a stranger break a reader: valid files are bent in many ways; only problems and refusals come out (X-8).

`make test` makes a few tries of each reader, always the same ones; `make test-all` makes three times as many, and
`make fuzz` thousands. `FUZZ_TRIES` says how many, and `FUZZ_FROM` where to begin. A failure names the reader and the
number of the try, which makes it again.
"""

from __future__ import annotations

import os
import traceback

import pytest
from polars.exceptions import PanicException
from tests.fuzz import campaign_targets, format_targets, people_targets, reading_targets, task_targets

TARGETS = [
    one
    for part in (campaign_targets, format_targets, people_targets, reading_targets, task_targets)
    for one in part.targets()
]
TRIES = int(os.environ.get("FUZZ_TRIES", "8"))
FIRST = int(os.environ.get("FUZZ_FROM", "0"))
LISTED = 5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name.replace(" ", "-"))
def test_whatever_a_stranger_sends_is_read_or_refused(target, tmp_path):
    faults = {}
    for seed in range(FIRST, FIRST + max(TRIES // target.cost, len(target.files) + 1)):
        try:
            target.try_(seed, tmp_path)
        except (Exception, PanicException) as error:  # noqa: BLE001 - whatever it is, it is the finding
            where = traceback.extract_tb(error.__traceback__)[-1]
            faults.setdefault((type(error).__name__, where.filename, where.lineno), (seed, error))
    told = [
        f"{target.name}, try {seed}: {''.join(traceback.format_exception(error))}" for seed, error in faults.values()
    ]
    assert not told, "\n".join(told[:LISTED])


def test_the_same_try_gives_the_same_bytes():
    for target in TARGETS:
        assert target.case(len(target.files) + 3) == target.case(len(target.files) + 3)
    assert len({target.name for target in TARGETS}) == len(TARGETS)
