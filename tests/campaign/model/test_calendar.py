"""What may be submitted now: rows, supersets, quotas, types, names (M57-M67, C29, C30, C34, P-31)."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.campaign.model.calendar import admit, allowances, complete_declaration, kept_name
from basanite.campaign.model.plan import Declared, Quota
from basanite.campaign.model.quotas import Use, account, balance
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.model.windows import conditions, stage_domains, superset, upcoming

DEV = Declared("CLIR", "Alpha", language="1A", queryset="QUERY1", dataset=("DEV",), track="open")
LOOK = replace(DEV, queryset="QUERY2", dataset=("EVAL1",))
WEEK = replace(LOOK, dataset=("EVAL1", "EVAL2"))


def refusal(campaign, declared, now, used=(), **options):
    """The refusal that a declaration gets."""
    with pytest.raises(RefusedError) as caught:
        admit(campaign, declared, now, used, **options)
    return caught.value


def rules(error):
    """The rules that a refusal names."""
    return {problem.rule for problem in error.problems}


class Books:
    """Keeps what was admitted, as the server's charges do."""

    def __init__(self, campaign):
        self.campaign, self.used = campaign, []

    def submit(self, declared, now):
        """Admit and count."""
        row = admit(self.campaign, declared, now, self.used)
        full = complete_declaration(self.campaign, row, declared)
        place = account(self.campaign, row, full.task, full.language, full.track, now)
        self.used.append(Use(place.key, place.period, full.task, full.type))
        return row


def test_the_row_in_force_takes_what_it_lists(small, utc):
    assert admit(small, DEV, utc(2026, 2, 10)).id == "dev"
    assert admit(small, LOOK, utc(2026, 2, 10)).id == "look"


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"task": "E2E"}, "M62"),
        ({"task": "Ranking"}, "M57"),
        ({"language": "1B"}, "M62"),
        ({"queryset": "QUERY2"}, "M62"),
        ({"dataset": ("EVAL2",)}, "M62"),
        ({"dataset": ("ANALYSIS1",)}, "M62"),
        ({"track": "closed"}, "P-31"),
        ({"track": ""}, "P-31"),
        ({"type": "secondary"}, "M57"),
        ({"condition": "constrained"}, "M57"),
    ],
)
def test_what_is_not_in_the_row_is_refused_with_what_is_allowed_now(small, utc, changed, rule):
    error = refusal(small, replace(DEV, **changed), utc(2026, 1, 20))
    assert rule in rules(error)
    assert "allowed now: CLIR/DomainID on DEV with QUERY1 (1A)" in str(error)


def test_before_and_after_the_season_a_refusal_says_what_opens_next(small, utc):
    assert "next: CLIR/DomainID on DEV" in str(refusal(small, DEV, utc(2026, 1, 1)))
    assert "the calendar has no more windows" in str(refusal(small, DEV, utc(2027, 1, 1)))
    assert [window.id for window in upcoming(small, utc(2026, 1, 20))] == ["look", "week"]


def test_training_conditions_are_those_of_the_row_or_its_tracks(small, utc):
    closed = replace(small.tracks[0], condition="constrained")
    campaign = replace(small, tracks=(closed, small.tracks[1]))
    row = campaign.window("dev")
    assert conditions(campaign, row, "open") == ("constrained",)
    assert admit(campaign, replace(DEV, condition="constrained"), utc(2026, 1, 20)).id == "dev"
    assert conditions(replace(campaign, tracks=()), row) == ("unconstrained",)
    assert conditions(campaign, replace(row, conditions=("a", "b")), "open") == ("a", "b")


def test_a_condition_of_another_row_is_refused(small, utc):
    assert "M57" in rules(refusal(small, replace(DEV, condition="constrained"), utc(2026, 1, 20)))


def test_only_packs_of_one_family_grow_together(small, utc):
    assert superset(small, ("EVAL1",), utc(2026, 2, 22)) == ("EVAL1",)
    assert superset(small, ("EVAL1",), utc(2026, 2, 24)) == ("EVAL1", "EVAL2")
    assert superset(small, ("DEV",), utc(2026, 2, 24)) == ("DEV",)
    assert admit(small, WEEK, utc(2026, 3, 3)).id == "week"


@pytest.mark.parametrize("alone", [("EVAL1",), ("EVAL2",)])
def test_a_pack_alone_is_refused_once_the_larger_set_is_out(small, utc, alone):
    error = refusal(small, replace(WEEK, dataset=alone), utc(2026, 3, 3))
    assert "M63" in rules(error)
    assert "submit on EVAL1+EVAL2" in str(error)


def test_a_row_that_a_release_overtakes_takes_nothing_more(small, utc):
    look = replace(small.window("look"), closes=small.window("week").closes)
    campaign = replace(small, windows=(look,))
    assert admit(campaign, LOOK, utc(2026, 2, 22)).id == "look"
    assert "M63" in rules(refusal(campaign, LOOK, utc(2026, 2, 24)))


def test_query_sets_do_not_grow_together(base, utc):
    """After pack 2 came out the calendar asks for it alone; both together are in no row."""
    now, run = utc(2018, 4, 10), Declared("CLIR", "A", language="1A", queryset="QUERY2", dataset=("DEV",))
    assert admit(base, run, now).id == "q2-d"
    assert "M62" in rules(refusal(base, replace(run, queryset="QUERY1QUERY2"), now))


def test_the_next_one_too_many_is_refused_and_told_when_the_week_resets(small, utc):
    books, now = Books(small), utc(2026, 2, 10)
    assert books.submit(LOOK, now).id == "look"
    error = refusal(small, LOOK, now, books.used)
    assert (rules(error), error.status) == ({"M64"}, 429)
    assert error.retry_at == utc(2026, 2, 16, 5)  # Monday 00:00 in New York
    refused_until = error.retry_at - timedelta(seconds=1)
    assert "M64" in rules(refusal(small, LOOK, refused_until, books.used))
    assert books.submit(LOOK, error.retry_at).id == "look"


def test_counts_are_by_language_task_and_data_set(base, utc):
    books, now = Books(base), utc(2018, 1, 10)
    run = Declared("CLIR", "A", language="1A", queryset="QUERY1", dataset=("EVAL1",))
    books.submit(run, now)
    books.submit(replace(run, language="1B"), now)
    books.submit(replace(run, task="DomainID", queryset=""), now)
    books.submit(replace(run, dataset=("DEV",)), now)
    for again in (run, replace(run, language="1B"), replace(run, task="DomainID", queryset="")):
        assert "M64" in rules(refusal(base, again, now, books.used))


def test_a_row_that_changes_in_mid_week_gives_no_second_attempt(base, utc):
    """Domains Y came out on a Friday: the week's one run on EVAL1 stays one."""
    books = Books(base)
    run = Declared("CLIR", "A", language="1A", queryset="QUERY1", dataset=("EVAL1",))
    assert books.submit(run, utc(2018, 3, 8)).id == "q1-e1"
    assert "M64" in rules(refusal(base, run, utc(2018, 3, 10), books.used))
    assert books.submit(run, utc(2018, 3, 12, 5)).id == "y-e1"


def test_a_window_that_is_called_week_shares_nothing_with_weekly_counts(small, utc):
    blind = small.window("week")
    weekly = replace(blind, id="other", kind="development", quota=Quota(5, "week"))
    first, second = (account(small, row, "LangID", "1A", "open", utc(2026, 3, 3)) for row in (blind, weekly))
    assert first.key != second.key


def test_an_evaluation_week_does_not_eat_the_weekly_run(base, utc):
    books = Books(base)
    run = Declared("CLIR", "A", language="1A", queryset="QUERY2QUERY3", dataset=("EVAL1", "EVAL2", "EVAL3"))
    for _ in range(4):
        books.submit(run, utc(2018, 8, 10))
    assert books.submit(run, utc(2018, 8, 11, 12)).id == "after-clirs-eval"


def test_quotas_are_counted_for_each_track(small, utc):
    books, now = Books(small), utc(2026, 2, 10)
    books.submit(LOOK, now)
    assert books.submit(replace(LOOK, track="human"), now).id == "look"
    assert "M64" in rules(refusal(small, LOOK, now, books.used))


def test_extra_attempts_count_in_their_own_period_alone(small, utc):
    books, now = Books(small), utc(2026, 2, 10)
    books.submit(LOOK, now)
    place = account(small, small.window("look"), "CLIR", "1A", "open", now)
    assert admit(small, LOOK, now, books.used, extras={(place.key, place.period): 1}).id == "look"
    assert "M64" in rules(refusal(small, LOOK, now, books.used, extras={(place.key, "another"): 1}))


def test_an_evaluation_week_takes_four_and_one_primary(base, utc):
    books, now = Books(base), utc(2018, 5, 15)
    run = Declared("CLIR", "A", language="1A", queryset="QUERY2", dataset=("EVAL1", "EVAL2"))
    primary = replace(run, type="primary")
    assert books.submit(primary, now).id == "clir-week-eval"
    second = refusal(base, primary, now, books.used)
    assert (rules(second), second.status) == ({"M66"}, 409)
    assert "4 contrastive" in str(second)
    for _ in range(4):
        books.submit(run, now)
    assert "M64" in rules(refusal(base, run, now, books.used))
    assert "M64" in rules(refusal(base, primary, now, books.used))


def test_a_summary_week_takes_one_primary_e2e_and_four_contrastive_clir(base, utc):
    books, now = Books(base), utc(2018, 8, 7)
    clir = Declared("CLIR", "A", language="1A", queryset="QUERY2QUERY3", dataset=("EVAL1", "EVAL2", "EVAL3"))
    e2e = replace(clir, task="E2E", type="primary")
    assert "takes no primary CLIR" in str(refusal(base, replace(clir, type="primary"), now))
    assert rules(refusal(base, replace(e2e, type="contrastive"), now)) == {"M67"}
    assert books.submit(e2e, now).id == "clirs-week-eval"
    assert rules(refusal(base, e2e, now, books.used)) == {"M67"}
    for _ in range(4):
        books.submit(clir, now)
    assert refusal(base, clir, now, books.used).status in (409, 429)
    assert len(books.used) == 5


ATTEMPTS = list(product(("E2E", "CLIR"), ("primary", "contrastive")))


@given(st.lists(st.sampled_from(ATTEMPTS), max_size=25))
def test_whatever_is_tried_in_a_summary_week_the_bounds_hold(base, utc, attempts):
    """Brute force: no order of attempts gets past 5 in all, 1 primary E2E and 4 contrastive CLIR."""
    books, now, taken = Books(base), utc(2018, 8, 7), []
    run = Declared("CLIR", "A", language="1B", queryset="QUERY2QUERY3", dataset=("EVAL1", "EVAL2", "EVAL3"))
    for task, kind in attempts:
        try:
            books.submit(replace(run, task=task, type=kind), now)
        except RefusedError:
            continue
        taken.append((task, kind))
    wanted = [("E2E", "primary")] * min(attempts.count(("E2E", "primary")), 1)
    wanted += [("CLIR", "contrastive")] * min(attempts.count(("CLIR", "contrastive")), 4)
    assert sorted(taken) == sorted(wanted)


@given(
    st.integers(0, 6),
    st.dictionaries(st.sampled_from(["primary", "contrastive"]), st.integers(0, 4)),
    st.lists(st.sampled_from(["primary", "contrastive"]), max_size=12),
)
def test_balances_agree_with_counting_by_hand(small, utc, count, types, attempts):
    now = utc(2026, 2, 10)
    row = replace(small.window("look"), quota=Quota(count, "week", types))
    place = account(small, row, "CLIR", "1A", "open", now)
    taken = []
    for kind in attempts:
        used = [Use(place.key, place.period, "CLIR", one) for one in taken]
        free = len(taken) < count and taken.count(kind) < types.get(kind, count)
        assert (balance(row, place, used, {}).left_of("CLIR", kind) > 0) == free
        taken += [kind] if free else []


def test_allowances_say_what_is_left_and_when_it_resets(small, utc):
    books, now = Books(small), utc(2026, 2, 10)
    books.submit(LOOK, now)
    found = {(one.window.id, one.task, one.track): one for one in allowances(small, now, books.used)}
    assert set(found) == {
        ("dev", "CLIR", "open"), ("dev", "CLIR", "human"), ("dev", "DomainID", "open"), ("dev", "DomainID", "human"),
        ("look", "CLIR", "open"), ("look", "CLIR", "human"),
    }  # fmt: skip
    assert (found["look", "CLIR", "open"].left, found["look", "CLIR", "human"].left) == (0, 1)
    assert found["look", "CLIR", "open"].resets == utc(2026, 2, 16, 5)
    assert found["dev", "CLIR", "open"].left == 200
    assert {one.track for one in allowances(small, now, track="human")} == {"human"}


def test_in_the_last_week_of_a_window_nothing_resets(small, utc):
    [one] = [a for a in allowances(small, utc(2026, 2, 18), track="open") if a.window.id == "look"]
    assert one.resets is None


@pytest.mark.parametrize("order", [("GOV", "LIF"), ("LIF", "GOV"), ()])
def test_domains_of_the_stage_may_be_in_any_order(small, utc, order):
    run = replace(DEV, task="DomainID", queryset="", domains=order)
    assert admit(small, run, utc(2026, 2, 10)).id == "dev"


@pytest.mark.parametrize("codes", [("GOV",), ("GOV", "GOV", "LIF"), ("GOV", "SPO"), ("GOV", "LIF", "SPO")])
def test_other_domains_than_those_of_the_stage_are_refused(small, utc, codes):
    error = refusal(small, replace(DEV, task="DomainID", queryset="", domains=codes), utc(2026, 2, 10))
    assert "M59" in rules(error)
    assert "GOV-LIF" in str(error)


def test_domains_follow_the_language_of_the_run(base):
    row = base.window("q2-d")
    assert set(stage_domains(base, row, "1A")) == {"GOV", "LIF", "BUS", "LAW"}
    assert set(stage_domains(base, row, "1B")) == {"GOV", "LIF", "HEA", "MIL"}


NAME = "Alpha_CLIR-contrastive-unconstrained-QUERY1-Sys1_BASE-1A-DEV_20200101_000000.tgz"


def test_team_and_time_of_the_kept_name_are_ours(small, utc):
    run = replace(DEV, label="Sys1", name=NAME)
    row = admit(small, run, utc(2026, 2, 10), team="Alpha")
    kept = kept_name(small, row, complete_declaration(small, row, run), "Alpha", utc(2026, 2, 10, 12, 30))
    assert kept == "Alpha_CLIR-contrastive-unconstrained-QUERY1-Sys1_BASE-1A-DEV_20260210_123000.tgz"


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("Alpha_", "Beta_", "M58"),
        ("QUERY1", "QUERY2", "M56"),
        ("-DEV_", "-EVAL1_", "M56"),
        ("-1A-", "-1B-", "M56"),
        ("contrastive", "primary", "M56"),
        ("Sys1", "Sys2", "M56"),
        ("BASE", "OP1", "M56"),
        ("CLIR", "E2E", "M56"),
        (".tgz", ".zip", "M56"),
        ("unconstrained", "constrained", "M57"),
    ],
)
def test_a_full_name_that_says_something_else_is_refused(small, utc, old, new, rule):
    run = replace(DEV, label="Sys1", name=NAME.replace(old, new))
    error = refusal(small, run, utc(2026, 2, 10), team="Alpha")
    assert error.status == 422
    assert rule in rules(error)


def test_a_label_alone_is_a_name_for_the_web(small, utc):
    assert admit(small, replace(DEV, label="Sys1", name="Sys1.tgz"), utc(2026, 2, 10), team="Alpha").id == "dev"
    assert "M55" in rules(refusal(small, replace(DEV, name="sys 1.tgz"), utc(2026, 2, 10), team="Alpha"))


def test_data_sets_are_understood_by_id_and_as_names_spell_them(base, utc):
    now = utc(2018, 11, 14)
    run = Declared("CLIR", "A", language="1S", queryset="QUERY2")
    for packs in [("ANALYSIS1", "ANALYSIS2"), ("1S-ANALYSIS1", "1S-ANALYSIS2"), ("ANALYSIS1ANALYSIS2",)]:
        assert admit(base, replace(run, dataset=packs), now).id == "1s-a2-analysis"
    assert "M62" in rules(refusal(base, replace(run, dataset=()), now))  # two rows would take it


def test_what_is_not_said_follows_from_the_row_where_there_is_one_answer(small, utc):
    sparse = Declared("DomainID", "A", track="open")
    row = admit(small, sparse, utc(2026, 1, 20))
    full = complete_declaration(small, row, sparse)
    assert (full.language, full.dataset, full.queryset, full.domains) == ("1A", ("DEV",), "", ("GOV", "LIF"))


def test_a_late_start_is_taken_within_the_grace_and_not_after(small):
    row = small.window("week")
    assert admit(small, WEEK, row.closes.utc - timedelta(seconds=1)).id == "week"
    assert admit(small, WEEK, row.closes.utc + timedelta(hours=11)).id == "week"
    assert "M62" in rules(refusal(small, WEEK, row.closes.utc + timedelta(hours=12)))


@given(st.builds(
    Declared,
    task=st.sampled_from(["CLIR", "DomainID", "LangID", "E2E", "", "\0"]),
    label=st.text(max_size=5),
    type=st.sampled_from(["primary", "contrastive", ""]),
    language=st.sampled_from(["1A", "1B", "1S", "", "ß"]),
    queryset=st.sampled_from(["", "QUERY1", "QUERY2QUERY3", "QUERY2+QUERY3", "+", "X"]),
    dataset=st.lists(st.sampled_from(["DEV", "EVAL1", "EVAL1EVAL2", "", "+", "X"]), max_size=3).map(tuple),
    domains=st.lists(st.sampled_from(["GOV", "LIF", ""]), max_size=3).map(tuple),
    track=st.sampled_from(["", "open"]),
    name=st.text(max_size=20),
), st.integers(0, 500))  # fmt: skip
def test_any_declaration_gets_a_row_or_a_refusal_with_a_cure(base, utc, declared, days):
    now = utc(2017, 11, 1) + timedelta(days=days)
    try:
        row = admit(base, declared, now, team="Alpha")
    except RefusedError as error:
        reasons = error.problems
    else:
        assert row.opens.utc <= now < row.closes.utc
        assert declared.task in row.tasks
        return
    assert reasons
    assert all(problem.message and problem.fix for problem in reasons)
