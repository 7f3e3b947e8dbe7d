"""Files that make the scorer crash, hang or eat the machine end by a rule, and those of others are scored meanwhile."""

import time

import pytest
from sqlalchemy import select
from tests.faults.scorers import POISONS, SLOW_SECONDS, slow_copy, work_poisoned
from tests.offices.machines import FINAL, all_ended, descendants, judge, wait_until
from tests.offices.submitting import submit

from basanite.campaign.store.tables import Charge, Submission

TRIES = 2
MEMORY = 700 * 2**20
AMPLE, SHORT = 60, 10
"""Seconds that a child may take: so many that only a hanging one takes longer, on a busy machine too."""


@pytest.fixture
def poisoned(place):
    """Gives an office with two places for scoring, and a worker whose scorer is at the mercy of some files."""

    def make(seconds):
        limits = {"seconds": seconds, "tries": TRIES, "memory": MEMORY}
        office, teams, machines = place(teams=2, settings={"workers": 2}, **limits)
        machines.start("worker", work_poisoned, office.settings)
        assert wait_until(lambda: machines.at_work("worker"), 60), machines.logs()
        return office, teams, machines

    return make


def state(office, submission_id):
    with office.reading() as session:
        return session.get_one(Submission, submission_id).state


def served(made, pack, fault, kind, end, name, deed):
    """A poisoned file of one team and a good one of another: both end as they should."""
    office, teams, machines = made
    poison = machines.folder / kind
    poison.write_bytes(POISONS[kind])
    began = time.monotonic()
    bad, good = submit(office, teams.members[0], poison).id, submit(office, teams.members[1], pack.perfect).id
    assert wait_until(lambda: state(office, good) in FINAL, 60), machines.logs()
    waited = time.monotonic() - began
    assert wait_until(lambda: state(office, bad) in FINAL, 90), machines.logs()
    assert (state(office, bad), state(office, good)) == (end, "scored"), machines.logs()
    cost = {"failed": f"after {TRIES} tries, the attempt given back", "invalid": "under rule X-8"}[end]
    became = f"`{end}` {cost}; a run of another team was scored meanwhile, after {waited:.1f} s"
    fault(name, done=f"a file {deed}", became=became, seconds=time.monotonic() - began)


def nothing_is_left(made, ends):
    office, _, machines = made
    assert judge(office).wrong == ()
    assert costs(office) == ends
    assert wait_until(lambda: not descendants(machines.processes["worker"].pid), 10), "children are left"
    assert list((office.settings.data / "scratch").iterdir()) == []


@pytest.mark.slow
@pytest.mark.fault(
    "poison submission: crashes the parser", "poison submission: memory bomb", "poison submission: fork bomb"
)
def test_poison_ends_by_a_rule_and_others_are_scored_meanwhile(poisoned, pack, fault):
    made = poisoned(AMPLE)
    crash = ("crash", "failed", "poison submission: crashes the parser")
    memory = ("memory", "invalid", "poison submission: memory bomb")
    forks = ("forks", "invalid", "poison submission: fork bomb")
    served(made, pack, fault, *crash, "crashed the process that read it, each time")
    served(made, pack, fault, *memory, f"took memory without end; the limit was {MEMORY // 2**20} MiB")
    served(made, pack, fault, *forks, "started processes without end")
    nothing_is_left(made, {"failed": {"refunded"}, "invalid": {"freed"}, "scored": {"charged"}})


@pytest.mark.slow
@pytest.mark.fault("poison submission: reading it never ends", "hanging scorer")
def test_who_hangs_and_heeds_no_request_is_ended(poisoned, pack, fault):
    made, limit = poisoned(SHORT), f"the limit was {SHORT} s"
    hang = ("hang", "invalid", "poison submission: reading it never ends")
    served(made, pack, fault, *hang, f"made reading hang and ignore SIGTERM; {limit}")
    served(made, pack, fault, "stuck", "failed", "hanging scorer", f"was read, then its scorer hung, too; {limit}")
    nothing_is_left(made, {"failed": {"refunded"}, "invalid": {"freed"}, "scored": {"charged"}})


def costs(office):
    """What submissions cost, by how they ended."""
    with office.reading() as session:
        pairs = session.execute(
            select(Submission.state, Charge.state).join(Charge, Charge.submission_id == Submission.id)
        )
        found = {}
        for end, cost in pairs:
            found.setdefault(end, set()).add(cost)
        return found


@pytest.mark.slow
@pytest.mark.fault("slow scorer")
def test_a_slow_scorer_delays_its_own_team_alone(poisoned, pack, fault, tmp_path):
    office, teams, machines = poisoned(AMPLE)
    slow = slow_copy(pack.perfect, tmp_path / "slow.tgz")
    for _ in range(2):
        submit(office, teams.members[0], slow)
    other = submit(office, teams.members[1], pack.perfect).id
    began = time.monotonic()
    assert wait_until(lambda: all_ended(office), 90), machines.logs()
    judgement, ends = judge(office), ended_at(office)
    fault(
        done=f"scoring took {SLOW_SECONDS} s longer for 2 runs of one team; a run of another team came after them",
        became=f"{judgement.words}; the other team's was done before the second slow one",
        seconds=time.monotonic() - began,
    )
    assert judgement.wrong == ()
    assert judgement.states == {"scored": 3}
    assert ends[other] < max(ends.values())


def ended_at(office):
    """When each submission came to its end."""
    with office.reading() as session:
        return {row.id: row.state_at for row in session.scalars(select(Submission))}
