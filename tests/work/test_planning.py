"""Planning: K judgements an item, genres in balance, seeded orders, and plans made again when judges change."""

from __future__ import annotations

from collections import Counter
from math import ceil, floor

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.work.making import items, judges, new_ids, scheme_of

from basanite.work.assignments import Assignment, Judge, parts, rounded_shares, taken_share
from basanite.work.items import Block, item_of
from basanite.work.plans import plan_more, plan_rounds

CELLS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1, max_size=60)


def shares_hold(whole, part, top, bottom):
    """Whether counts in a part are the share of the whole, rounded down or up."""
    return all(
        floor(count * top / bottom) <= Counter(part)[value] <= ceil(count * top / bottom)
        for value, count in Counter(whole).items()
    )


@settings(max_examples=60, deadline=None)
@given(CELLS, st.integers(1, 9), st.integers(0, 99))
def test_parts_have_every_genre_and_topic_in_its_share(cells, count, seed):
    places = list(range(len(cells)))
    made = parts(places, count, lambda at: cells[at], str, seed)
    assert sorted(at for part in made for at in part) == places
    for part in made:
        for fact in (0, 1):
            assert shares_hold([cell[fact] for cell in cells], [cells[at][fact] for at in part], 1, count)
        assert floor(len(cells) / count) <= len(part) <= ceil(len(cells) / count)


@settings(max_examples=60, deadline=None)
@given(CELLS, st.integers(0, 20), st.integers(0, 99))
def test_a_share_of_train_and_test_is_in_balance_too(cells, top, seed):
    places = list(range(len(cells)))
    taken, left = taken_share(places, top, 20, lambda at: cells[at], str, seed)
    assert sorted([*taken, *left]) == places
    for fact in (0, 1):
        assert shares_hold([cell[fact] for cell in cells], [cells[at][fact] for at in taken], top, 20)


def test_every_cell_has_its_chance_of_the_odd_item():
    drawn = Counter(
        cell
        for seed in range(400)
        for cell, n in rounded_shares({("a", ""): 1, ("b", ""): 3}, 1, 4, str(seed)).items()
        for _ in range(n)
    )
    assert sum(drawn.values()) == 400
    assert 70 <= drawn["a", ""] <= 130  # a quarter of 400, five standard deviations


def test_rounds_to_be_ranked_are_the_same_ten_for_all_in_an_order_of_each_judges_own():
    scheme = scheme_of("readability")
    pool = items(40, genre=["news", "blog", "forum", "wiki"], topic=["a", "b", "c", "d", "e"])
    everybody = [*judges(3, "expert"), *judges(4, "novice")]
    plan = plan_rounds(pool, everybody, scheme, 7)
    rounds = {(each.judge, each.round): [] for each in plan}
    for each in plan:
        rounds[each.judge, each.round].append(each.item)
    assert len({frozenset(some) for some in rounds.values()}) == 4
    assert all(len(some) == 10 for some in rounds.values())
    across = {tuple(frozenset(rounds[judge.id, number]) for number in range(1, 5)) for judge in everybody}
    within = {tuple(some) for some in rounds.values()}
    assert len(across) > 3
    assert len(within) > 20
    genre = {item.id: item.facts["genre"] for item in pool}
    for some in rounds.values():
        assert all(2 <= times <= 3 for times in Counter(genre[item] for item in some).values())


def test_the_same_seed_gives_the_same_plan_and_another_one_another():
    scheme, pool, everybody = scheme_of("binary"), items(30, genre=["a", "b"]), judges(5)
    assert plan_rounds(pool, everybody, scheme, 1) == plan_rounds(pool, everybody, scheme, 1)
    assert plan_rounds(pool, everybody, scheme, 1) != plan_rounds(pool, everybody, scheme, 2)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 8), st.integers(1, 5), st.integers(0, 9))
def test_every_item_gets_its_judgements_by_different_judges_and_loads_are_even(count, people, wanted, seed):
    scheme = scheme_of("binary", per_item=wanted)
    plan = plan_rounds(items(count, genre=["a", "b", "c"]), judges(people), scheme, seed)
    pairs = [(each.item, each.judge) for each in plan]
    assert len(set(pairs)) == len(pairs)
    assert set(Counter(item for item, _ in pairs).values()) == {min(wanted, people)}
    loads = Counter(judge for _, judge in pairs)
    assert max(loads.values()) - min(loads.get(judge.id, 0) for judge in judges(people)) <= 1
    assert [problem.rule for problem in plan.warnings] == (["P-30"] if wanted > people else [])


def test_each_judge_gets_every_genre_in_its_share():
    scheme, pool = scheme_of("binary", per_item=2), items(60, genre=["a", "a", "b"])
    genre = {item.id: item.facts["genre"] for item in pool}
    balanced = scheme_of("binary", per_item=2, balance=["genre"])
    plan = plan_rounds(pool, judges(6), balanced, 3)
    for judge in judges(6):
        counts = Counter(genre[each.item] for each in plan.of(judge.id))
        assert 13 <= counts["a"] <= 14
        assert 6 <= counts["b"] <= 7
    assert scheme.balance == ()


def test_a_judge_does_not_meet_the_same_query_twice_where_that_can_be():
    scheme = scheme_of("relevance", per_item=2)
    pool = items(40, query=[f"q{at}" for at in range(10)])
    plan = plan_rounds(pool, judges(8), scheme, 5)
    query = {item.id: item.facts["query"] for item in pool}
    met = Counter((each.judge, query[each.item]) for each in plan)
    assert set(met.values()) == {1}
    assert plan.warnings == ()


def test_where_it_cannot_be_it_is_logged_with_the_numbers():
    scheme = scheme_of("relevance", per_item=2, alike_at_most=1)
    plan = plan_rounds(items(4, query="q"), judges(3), scheme, 5)
    assert [problem.rule for problem in plan.warnings] == ["M52"]
    assert "3 judges get 'q' more than once: 8 judgments for 3 judges" in plan.warnings[0].message
    assert plan.warnings[0].severity == "warn"
    assert plan.warnings[0].fix


def test_conflicts_languages_and_limits_that_were_declared_are_kept():
    scheme = scheme_of("binary", per_item=1)
    pool = items(12, system=["Alpha", "Beta"], language=["swa", "tgl", "som"])
    people = [Judge("a", languages=frozenset({"swa"})), Judge("b", conflicts=frozenset({"Alpha"})), Judge("c", most=2)]
    plan = plan_rounds(pool, people, scheme, 1)
    facts = {item.id: item.facts for item in pool}
    assert {facts[each.item]["language"] for each in plan.of("a")} == {"swa"}
    assert {facts[each.item]["system"] for each in plan.of("b")} == {"Beta"}
    assert len(plan.of("c")) == 2
    assert [problem.rule for problem in plan.warnings] == ["P-30"]


def test_segments_of_a_document_stay_together_and_in_order():
    scheme = scheme_of("da", per_item=1)
    pool = items(30, system=["A", "B"], document=["d1", "d1", "d2", "d2", "d3", "d3"])
    plan = plan_rounds(pool, judges(3), scheme, 2)
    facts, order = {item.id: item.facts for item in pool}, {item.id: at for at, item in enumerate(pool)}
    for judge in judges(3):
        mine = [
            (facts[each.item]["system"], facts[each.item]["document"], order[each.item]) for each in plan.of(judge.id)
        ]
        blocks = [key for at, key in enumerate(m[:2] for m in mine) if at == 0 or key != mine[at - 1][:2]]
        assert len(blocks) == len(set(blocks))
        for block in blocks:
            assert [m[2] for m in mine if m[:2] == block] == sorted(m[2] for m in mine if m[:2] == block)


def test_hidden_checks_are_mixed_in_and_look_like_the_rest():
    scheme = scheme_of("relevance", per_item=1)
    ids = new_ids("c")
    checks = [
        item_of([Block("text", f"Check {at}")], {}, new_id=ids.__next__, role="check", expected={"verdict": "R"})
        for at in range(5)
    ]
    plan = plan_rounds([*items(80, query="q"), *checks], judges(2), scheme, 3)
    for judge in judges(2):
        mine = [each for each in plan.of(judge.id) if each.item.startswith("c")]
        assert len(mine) == 2
        assert len({each.item for each in mine}) == 2
        assert len({each.round for each in mine}) == 2


def test_training_comes_first_and_is_the_same_set_for_all():
    scheme = scheme_of("relevance", "[training]\ncount = 3\n", per_item=1)
    ids = new_ids("t")
    training = [item_of([Block("text", f"T {at}")], {}, new_id=ids.__next__, role="training") for at in range(6)]
    plan = plan_rounds([*items(10), *training], judges(2), scheme, 3)
    sets = {judge.id: {each.item for each in plan.of(judge.id) if each.round == 0} for judge in judges(2)}
    assert len(sets["judge00"]) == 3
    assert sets["judge00"] == sets["judge01"]
    assert [each.round for each in plan.of("judge00")][:3] == [0, 0, 0]


def test_when_a_judge_leaves_the_others_take_over_and_what_was_done_counts():
    scheme, pool = scheme_of("binary", per_item=2), items(20)
    first = plan_rounds(pool, judges(3), scheme, 1)
    done = [each for each in first if each.judge != "judge02" or each.position <= 3]
    people = [*judges(2), Judge("judge02", active=False), Judge("late")]
    more = plan_more(pool, people, scheme, 1, kept=done)
    assert all(each.judge != "judge02" for each in more)
    together = Counter(each.item for each in [*done, *more])
    assert set(together.values()) == {2}
    pairs = [(each.item, each.judge) for each in [*done, *more]]
    assert len(set(pairs)) == len(pairs)


def test_votes_of_people_without_a_seat_count_for_plain_judges():
    scheme, pool = scheme_of("binary", per_item=2), items(6)
    votes = [Assignment(f"worker{at}", 1, 1, item.id) for at, item in enumerate(pool[:4])]
    plan = plan_more(pool, judges(3), scheme, 1, kept=votes)
    assert Counter(each.item for each in plan) == {item.id: 1 if at < 4 else 2 for at, item in enumerate(pool)}


def test_a_late_judge_of_a_ranked_panel_gets_the_rounds_in_use():
    scheme, pool = scheme_of("readability"), items(20, genre=["a", "b"])
    early = [*judges(1, "expert"), *judges(1, "novice")]
    first = plan_rounds(pool, early, scheme, 1)
    more = plan_more(pool, [*early, Judge("late", "novice")], scheme, 99, kept=first.assignments)
    used = {frozenset(each.item for each in first.of("expert00") if each.round == number) for number in (1, 2)}
    assert {frozenset(each.item for each in more if each.round == number) for number in (1, 2)} == used
    assert {each.judge for each in more} == {"late"}


def test_a_pool_is_judged_in_the_order_it_was_given():
    scheme, pool = scheme_of("pool"), items(25, query=["q1", "q2"])
    plan = plan_rounds(pool, judges(1), scheme, 4)
    assert [each.item for each in plan] == [item.id for item in pool]


def test_sides_of_pairs_are_changed_for_half_of_each_judges_items():
    plan = plan_rounds(items(20, left="A", right="B"), judges(2), scheme_of("pairwise"), 4)
    for judge in judges(2):
        assert sum(each.flipped for each in plan.of(judge.id)) == 10


def test_nobody_in_a_group_is_said():
    plan = plan_rounds(items(10), judges(2, "novice"), scheme_of("readability"), 1)
    assert [problem.message for problem in plan.warnings] == [
        "nobody is in the group 'expert', so its judgments cannot be made"
    ]


def test_no_items_or_no_judges_are_no_error():
    assert plan_rounds([], judges(2), scheme_of("binary"), 1).assignments == ()
    assert plan_rounds(items(3), [], scheme_of("binary"), 1).assignments == ()
