"""Things without a name: the assignment is the best there is, and nothing but what is said of them decides it."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.metrics.answers import dice, share
from basanite.reading.gold.answers import Answer, GoldAnswer
from basanite.reading.gold.counts import gold_for, settled_cells
from basanite.reading.gold.structure import MOST_LINKED, Link, best_assignment

TEAMS = ("bears", "jets", "colts")
GAMES, EVENTS = ("g1", "g2", "g3"), ("e1", "e2", "e3")


def said(query, **bound):
    bindings = tuple(sorted((name, frozenset(b) if isinstance(b, list) else b) for name, b in bound.items()))
    return Answer(query, "d", bindings, "explicit", 1)


def credit_of(answers, lines, credit=share):
    gold = gold_for([GoldAnswer(line) for line in lines], None)
    return sum(match.credit for cell in settled_cells(answers, gold, credit).values() for match in cell.matches)


statements = st.one_of(
    st.builds(lambda g: ("games", g, None), st.sampled_from(GAMES)),
    st.builds(lambda g, t: ("winners", g, t), st.sampled_from(GAMES), st.sampled_from(TEAMS)),
    st.builds(lambda g, n: ("periods", g, n), st.sampled_from(GAMES), st.sampled_from("45")),
    st.builds(lambda e, g: ("events", e, g), st.sampled_from(EVENTS), st.sampled_from(GAMES)),
    st.builds(lambda e, t: ("scorers", e, t), st.sampled_from(EVENTS), st.sampled_from(TEAMS)),
)
graphs = st.lists(statements, max_size=8, unique=True)


def written(graph, names):
    """The statements of a graph as answers, its things called as `names` has them."""
    for query, first, second in graph:
        thing = [names[first]]
        if query == "games":
            yield said(query, G=thing)
        elif query == "winners":
            yield said(query, G=thing, T=[second])
        elif query == "periods":
            yield said(query, G=thing, N=second)
        elif query == "events":
            yield said(query, E=thing, G=[names[second]])
        else:
            yield said(query, E=thing, T=[second])


OWN = {name: f"_:{name}" for name in (*GAMES, *EVENTS)}
OTHER = {name: f"the {at}th" for at, name in enumerate((*GAMES, *EVENTS))}


@given(graphs, st.permutations(GAMES), st.sampled_from([share, dice]))
@settings(max_examples=60, deadline=None)
def test_what_says_the_same_has_full_credit_whatever_its_things_are_called(graph, order, credit):
    gold = list(written(graph, OWN))
    swapped = OWN | {name: f"_:{other}" for name, other in zip(GAMES, order, strict=True)}
    for names in (OWN, OTHER, swapped):
        assert credit_of(list(written(graph, names)), gold, credit) == pytest.approx(len(graph))


@given(graphs, graphs, st.randoms())
@settings(max_examples=60, deadline=None)
def test_neither_ids_nor_order_change_a_credit(answered, graph, random):
    gold, answers = list(written(graph, OWN)), list(written(answered, OTHER))
    called = list(OTHER.values())
    random.shuffle(called)
    again = list(written(answered, dict(zip(OTHER, called, strict=True))))
    random.shuffle(again)
    assert credit_of(again, random.sample(gold, len(gold))) == pytest.approx(credit_of(answers, gold))


def best_by_trying(links, things, golds):
    """The most credit of any assignment, by trying all."""
    everything = [*golds, *(None for _ in things)]
    found = 0.0
    for order in set(permutations(everything, len(things))):
        chosen = {(thing, golden) for thing, golden in zip(things, order, strict=True) if golden is not None}
        found = max(found, sum(link.credit for link in links if set(link.pairs) <= chosen))
    return found


@given(
    st.lists(
        st.tuples(st.sampled_from([0.5, 0.75, 1.0]), st.integers(0, 2), st.integers(0, 2), st.integers(3, 4),
                  st.integers(3, 4), st.booleans()),
        max_size=10,
    )
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_the_assignment_is_the_best_of_all(drawn):
    links = [
        Link(at, at, credit, ((a, b),) if single else ((a, b), (c, d)))
        for at, (credit, a, b, c, d, single) in enumerate(drawn)
    ]
    chosen = set(best_assignment(links, {}).items())
    assert len({golden for _, golden in chosen}) == len(chosen)
    reached = sum(link.credit for link in links if set(link.pairs) <= chosen)
    assert reached == pytest.approx(best_by_trying(links, range(5), range(5)))


def test_more_links_than_are_searched_still_find_what_each_thing_says_by_itself():
    linked = [Link(at, at, 1.0, ((at, at), (at + 1, at + 1))) for at in range(0, 2 * MOST_LINKED, 2)]
    assert best_assignment(linked, {}) == {at: at for at in range(2 * MOST_LINKED)}


def test_a_thing_with_nothing_right_about_it_is_not_counted_as_found():
    gold = [said("games", G=["_:a"]), said("winners", G=["_:a"], T=["bears"])]
    assert credit_of([said("games", G=["_:x"]), said("winners", G=["_:x"], T=["jets"])], gold) == 0
    assert credit_of([said("games", G=["_:x"]), said("winners", G=["_:x"], T=["bears"])], gold) == 2
    assert credit_of([said("games", G=["_:x"])], gold[:1]) == 1, "nothing more is asked"


def test_a_thing_that_the_gold_names_is_not_matched_by_its_structure():
    gold = [said("winners", G=["rose bowl"], T=["bears"])]
    assert credit_of([said("winners", G=["_:x"], T=["bears"])], gold) == 0
    assert credit_of([said("winners", G=["_:x", "rose bowl"], T=["bears"])], gold) == 1
    mixed = [*gold, said("winners", G=["_:a"], T=["jets"])]
    answers = [said("winners", G=["rose bowl"], T=["jets"]), said("winners", G=["_:y"], T=["jets"])]
    assert credit_of(answers, mixed) == 1, "what has the name of one game is not the other"


def test_a_described_thing_is_known_by_its_description_too():
    gold = [said("games", G=["_:a", "the opener"]), said("winners", G=["_:a", "the opener"], T=["bears"])]
    assert credit_of([said("games", G=["the opener"])], gold) == 1
    assert credit_of([said("games", G=["_:x"])], gold) == 0


def test_one_thing_of_the_gold_is_one_thing_of_the_answers():
    gold = [said("winners", G=["_:a"], T=["bears"]), said("losers", G=["_:a"], T=["jets"])]
    answers = [said("winners", G=["_:x"], T=["bears"]), said("losers", G=["_:y"], T=["jets"])]
    assert credit_of(answers, gold) == 1
