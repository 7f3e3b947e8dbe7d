"""Who sees what: brute force over viewers, windows, releases and submissions, with planted numbers (M68-M72, X-7)."""

import json
from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import chain, combinations, product
from types import SimpleNamespace

import pytest

from basanite.campaign.model.policy import (
    ACTS,
    JUDGING,
    VISITOR,
    SubmissionFacts,
    Viewer,
    effective,
    sight,
    team_name,
    visible_result,
)
from basanite.campaign.model.redaction import Rung
from basanite.campaign.model.zones import Instant

DOCUMENT = "MATERIAL_BASE-1A_12345678"


def entry(number, units=40, **more):
    """A value of a result whose every number can be distinguished."""
    return {"value": number, "low": number - 0.0000002, "high": number + 0.0000002, "units": units, "undefined": 0,
            "flags": [], "parts": {"calibration_loss": 0.7654321}, **more}  # fmt: skip


RESULT = {
    "format": "basanite-result/1",
    "task": "e2e",
    "primary": "e2e_aqwv",
    "values": {
        "aqwv": entry(0.1111117, hits=[DOCUMENT]),
        "aqwv_all": entry(0.1212127),
        "aqwv_relevant": entry(0.1313137),
        "pmiss": entry(0.1414147),
        "auc": entry(0.1515157),
        "e2e_aqwv": entry(0.2222227),
        "e2e_pmiss": entry(0.2323237),
    },
    "breakdowns": {
        "genre": {
            "NT": {"aqwv": entry(0.3111117, 25), "e2e_aqwv": entry(0.2424247, 25)},
            "BT": {"aqwv": entry(0.3212127, 12), "e2e_aqwv": entry(0.2525257, 12)},
            "CS": {"aqwv": entry(0.3313137, 3), "e2e_aqwv": entry(0.2626267, 3)},
        },
        "document": {DOCUMENT: {"aqwv": entry(0.4111117)}},
    },
    "settings": {"beta": 20.0},
    "signature": "basanite:0.1.0|task:e2e",
    "digests": {"submission": "sha256:5b5b", "reference": "sha256:ced1ced2"},
    "notes": [f"see {DOCUMENT}", "two queries have no relevant document"],
    "rows": {DOCUMENT: "miss"},
    "warnings": [{"where": "reference", "file": "query00001.tsv"}],
}
SECRETS = {
    "headline": ("0.111", "0.121", "0.131"),
    "exact": ("0.1111117",),
    "others": ("0.1414147", "0.141"),
    "auc": ("0.1515157", "0.152"),
    "judged": ("0.2222227", "0.222", "0.2323237", "0.2424247", "0.2525257"),
    "large cell": ("0.3111117",),
    "middle cell": ("0.3212127",),
    "small cell": ("0.3313137", "0.2626267"),
    "documents": (DOCUMENT, "12345678", "0.4111117", "rows", "hits", '"document"'),
    "reference": ("ced1ced2", "query00001"),
    "notes": ("two queries",),
}
OWN, OTHER = "team-own", "team-other"
VIEWERS = {
    "visitor": VISITOR,
    "user": Viewer("p1"),
    "member": Viewer("p2", team=OWN),
    "pi": Viewer("p3", team=OWN, pi=True),
    "rival": Viewer("p4", team=OTHER),
    "rival pi": Viewer("p5", team=OTHER, pi=True),
    "judge": Viewer("p6", roles=frozenset({"judge"})),
    "member who judges": Viewer("p7", roles=frozenset({"judge"}), team=OWN, pi=True),
    "rival who judges": Viewer("p8", roles=frozenset({"adjudicator"}), team=OTHER),
    "team maker": Viewer("p9", roles=frozenset({"team_maker"})),
    "evaluation": Viewer("p10", roles=frozenset({"evaluation"})),
}
SUBMISSIONS = [
    SubmissionFacts(OWN, "E2E", kind, state, standing, admitted, described)
    for kind, state, (standing, admitted), described in product(
        ("primary", "contrastive"),
        ("scored", "scoring"),
        (("on time", False), ("late", False), ("late", True), ("withdrawn", False), ("disqualified", False),
         ("baseline", False)),
        (True, False),
    )
]  # fmt: skip
RELEASES = list(chain.from_iterable(combinations(ACTS, size) for size in range(len(ACTS) + 1)))


@pytest.fixture(scope="module")
def stage(small):
    """Windows of every kind, and moments before and after results may be seen."""
    row = replace(small.window("week"), naming="named", results_at=())
    sealed = {"dataset": ("EVAL1", "EVAL2"), "kind": "development"}
    windows = {
        "full": replace(row, dataset=("DEV",), kind="development", feedback="full"),
        "forced": replace(row, **sealed, feedback="full", forced="by contract"),
        "limited": replace(row, **sealed, feedback="limited"),
        "nothing": replace(row, **sealed, feedback="none"),
        "ladder": replace(row, **sealed, feedback="full", forced="by contract", ladder=2.0),
        "evaluation": row,
        "sanity": replace(row, kind="sanity"),
        "fixed time": replace(row, results_at=(Instant(row.closes.utc + timedelta(days=9)),)),
        "own rows": replace(row, naming="own"),
    }
    return SimpleNamespace(campaign=small, windows=windows, acted=row.closes.utc + timedelta(days=8))


@cache
def told(seen):
    """The JSON that a sight lets through; many states share one."""
    return json.dumps(visible_result(RESULT, seen, Rung(0.25, 0.05)))


def may(secret, name, window, submission, acts):
    """What the rules say, written down apart from the code: whether this viewer may learn this secret."""
    viewer = VIEWERS[name]
    staff = name == "evaluation"
    judging = bool(viewer.roles & JUDGING)
    own = viewer.team == OWN
    blind = window.feedback == "none" or window.kind != "development"
    sealed = window.dataset != ("DEV",)
    acts = acts if submission.described else ()
    certifying = own and viewer.pi and "certification" in acts
    if secret == "documents" or submission.state != "scored":
        return False
    if staff:
        return secret != "reference" or None
    if judging and own:
        return False
    if own:
        everything = certifying or "details" in acts or (window.feedback == "full" and not blind and not window.ladder)
        headline = everything or "top" in acts or (window.feedback == "limited" and not blind)
        judged = not blind or certifying or "e2e" in acts
    else:
        inside = viewer.team is not None and not judging
        ranked = submission.standing in ("on time", "baseline") or (
            submission.standing == "late" and submission.admitted
        )
        speaks = submission.type == "primary" or submission.standing == "baseline"
        visible = (inside or "public" in acts) and ranked and speaks and window.naming != "own"
        everything = visible and "details" in acts
        headline = visible and ("details" in acts or "top" in acts)
        judged = "e2e" in acts
    return {
        "headline": headline and (everything or None),
        "exact": everything,
        "others": everything,
        "auc": everything and not sealed,
        "judged": headline and judged and (everything or None),
        "large cell": everything,
        "middle cell": everything and not sealed,  # the complement of the small one
        "small cell": everything and not sealed,
        "reference": everything and not sealed and None,
        "notes": everything and not sealed and None,
    }[secret]


def cases(stage, windows):
    """Every state of the world."""
    for kind, name, submission, acts in product(windows, VIEWERS, SUBMISSIONS, RELEASES):
        window = stage.windows[kind]
        yield kind, name, window, submission, acts


@pytest.mark.parametrize("kind", ["full", "forced", "limited", "nothing", "ladder", "evaluation", "sanity", "own rows"])
def test_nobody_learns_more_than_the_rules_allow_and_nobody_less(stage, kind):
    """`may` says yes, no, or None where a level shows some of it."""
    now = stage.acted + timedelta(days=30)
    for _, name, window, submission, acts in cases(stage, [kind]):
        releases = dict.fromkeys(acts, stage.acted)
        seen = sight(VIEWERS[name], stage.campaign, window, submission, releases, now)
        text = told(seen)
        for secret, tokens in SECRETS.items():
            allowed = may(secret, name, window, submission, acts)
            found = [token for token in tokens if token in text]
            if allowed is False:
                assert not found, (kind, name, submission, acts, secret, text)
            if allowed is True:
                assert found, (kind, name, submission, acts, secret, text)


def test_an_act_takes_effect_at_the_next_fixed_moment(stage):
    window, acts = stage.windows["fixed time"], dict.fromkeys(ACTS, stage.acted)
    moment = window.results_at[0].utc
    assert effective(window, acts, moment - timedelta(seconds=1)) == frozenset()
    assert effective(window, acts, moment) == frozenset(ACTS)
    later = {"top": moment + timedelta(days=1)}
    assert effective(window, later, moment + timedelta(days=1)) == {"top"}
    for name, submission in product(VIEWERS, SUBMISSIONS):
        if name != "evaluation":
            seen = sight(VIEWERS[name], stage.campaign, window, submission, acts, moment - timedelta(seconds=1))
            assert seen.level == "none"
            assert told(seen) == "{}"


@pytest.mark.parametrize("kind", ["nothing", "evaluation", "sanity"])
def test_in_a_blind_window_every_valid_run_shows_the_same_states(stage, kind):
    def states(result_state):
        run = SubmissionFacts(OWN, "CLIR", "primary")
        order = ["received", "validating", "scoring", result_state]
        views = [
            sight(VIEWERS["member"], stage.campaign, stage.windows[kind], replace(run, state=state), {}, stage.acted)
            for state in order
        ]
        return [(view.state, view.final, told(view)) for view in views]

    assert [state for state, _, _ in states("scored")] == ["received", "validating", "accepted", "accepted"]
    assert states("scored") == states("scoring")
    assert all(text == "{}" for _, _, text in states("scored"))


def test_an_invalid_run_shows_its_problems_to_its_team_alone(stage):
    run = SubmissionFacts(OWN, "CLIR", "primary", state="invalid")
    for name, viewer in VIEWERS.items():
        seen = sight(
            viewer, stage.campaign, stage.windows["evaluation"], run, dict.fromkeys(ACTS, stage.acted), stage.acted
        )
        insider = viewer.team == OWN or name == "evaluation"
        assert (seen.exists, seen.problems, seen.file) == (insider, insider, insider)


def test_top_details_and_summaries_are_released_one_by_one(stage):
    run, window = SubmissionFacts(OWN, "E2E", "primary"), stage.windows["evaluation"]

    def at(*acts):
        seen = sight(VIEWERS["rival"], stage.campaign, window, run, dict.fromkeys(acts, stage.acted), stage.acted)
        return visible_result(RESULT, seen)

    assert at() == at("certification") == at("details")["values"].get("e2e_aqwv", {}) == {}
    assert set(at("top")["values"]) == {"aqwv", "aqwv_all", "aqwv_relevant"}
    assert "breakdowns" not in at("top")
    assert set(at("top", "e2e")["values"]) == {"e2e_aqwv", "aqwv", "aqwv_all", "aqwv_relevant"}
    assert "genre" in at("top", "details")["breakdowns"]


def test_limited_feedback_is_three_values_to_a_thousandth_with_a_fixed_half_width(stage):
    window = replace(stage.windows["limited"], half_width=0.04)
    seen = sight(VIEWERS["member"], stage.campaign, window, SubmissionFacts(OWN, "CLIR"), {}, stage.acted)
    assert visible_result({**RESULT, "task": "clir", "primary": "aqwv"}, seen) == {
        "format": "basanite-result/1",
        "task": "clir",
        "primary": "aqwv",
        "values": {
            "aqwv": {"value": 0.111, "half_width": 0.04},
            "aqwv_all": {"value": 0.121, "half_width": 0.04},
            "aqwv_relevant": {"value": 0.131, "half_width": 0.04},
        },
    }


def test_limited_feedback_shows_what_the_window_lists(stage):
    window = replace(stage.windows["limited"], shows=("pmiss",))
    seen = sight(VIEWERS["member"], stage.campaign, window, SubmissionFacts(OWN, "CLIR"), {}, stage.acted)
    assert set(visible_result(RESULT, seen)["values"]) == {"pmiss"}
    other = {"task": "translation", "primary": "bleu", "values": {"bleu": entry(0.31234), "ter": entry(0.5)}}
    plain = sight(
        VIEWERS["member"], stage.campaign, stage.windows["limited"], SubmissionFacts(OWN, "x"), {}, stage.acted
    )
    assert visible_result(other, plain)["values"] == {"bleu": {"value": 0.312, "half_width": 0.05}}


def test_identification_shows_the_listed_shares_of_each_target(stage):
    result = {
        "task": "domainid", "primary": None, "values": {},
        "breakdowns": {"target": {"GOV": {"hit": entry(61.23456), "x1": entry(33.0)}}},
    }  # fmt: skip
    run = SubmissionFacts(OWN, "DomainID")
    bare = sight(VIEWERS["member"], stage.campaign, stage.windows["limited"], run, {}, stage.acted)
    assert visible_result(result, bare)["values"] == {}
    assert "breakdowns" not in visible_result(result, bare)
    window = replace(stage.windows["limited"], shows=("hit",))
    seen = sight(VIEWERS["member"], stage.campaign, window, run, {}, stage.acted)
    assert visible_result(result, seen)["breakdowns"] == {
        "target": {"GOV": {"hit": {"value": 61.235, "half_width": 0.05}}}
    }


def test_a_ladder_shows_one_number_and_nothing_of_the_result(stage):
    run, window = SubmissionFacts(OWN, "E2E"), stage.windows["ladder"]
    seen = sight(VIEWERS["pi"], stage.campaign, window, run, {}, stage.acted)
    assert seen.level == "ladder"
    assert visible_result(RESULT, seen, Rung(0.25, 0.05))["values"] == {"e2e_aqwv": {"value": 0.25, "step": 0.05}}
    assert visible_result(RESULT, seen)["values"] == {}


def test_no_view_of_single_documents_exists_even_for_the_evaluation_team(stage):
    seen = sight(
        VIEWERS["evaluation"], stage.campaign, stage.windows["full"], SubmissionFacts(OWN, "E2E"), {}, stage.acted
    )
    text = told(seen)
    assert seen.level == "full"
    assert "genre" in text
    assert not [token for token in SECRETS["documents"] if token in text]


def test_counts_and_shares_are_shown_without_documents(stage):
    seen = sight(VIEWERS["member"], stage.campaign, stage.windows["full"], SubmissionFacts(OWN, "E2E"), {}, stage.acted)
    found = visible_result(RESULT, seen)
    assert found["breakdowns"]["genre"]["CS"]["aqwv"]["units"] == 3
    assert found["digests"] == RESULT["digests"]


def test_a_run_without_its_required_description_is_not_released(stage):
    run = SubmissionFacts(OWN, "E2E", "primary", described=False)
    acts = dict.fromkeys(ACTS, stage.acted)
    for name in ("rival", "visitor", "pi"):
        seen = sight(VIEWERS[name], stage.campaign, stage.windows["evaluation"], run, acts, stage.acted)
        assert told(seen) == "{}"


def test_names_follow_the_window_and_consent(stage):
    run, acts = SubmissionFacts(OWN, "E2E", "primary"), dict.fromkeys(ACTS, stage.acted)

    def called(viewer, naming, consented):
        window = replace(stage.windows["evaluation"], naming=naming)
        seen = sight(VIEWERS[viewer], stage.campaign, window, run, acts, stage.acted)
        return team_name(seen, VIEWERS[viewer], name="Alpha", pseudonym="Heron", consented=consented), seen.exists

    assert called("rival", "named", False) == ("Alpha", True)
    assert called("visitor", "named", False) == ("Heron", True)
    assert called("visitor", "named", True) == ("Alpha", True)
    assert called("judge", "named", False) == ("Heron", True)
    assert called("rival", "pseudonym", True) == ("Heron", True)
    assert called("visitor", "pseudonym", True) == ("Heron", True)
    assert called("rival", "own", True)[1] is False
    assert called("member", "own", False) == called("evaluation", "own", False) == ("Alpha", True)


def test_the_result_itself_is_never_changed(stage):
    before = json.dumps(RESULT)
    for kind, name in product(stage.windows, VIEWERS):
        acts = dict.fromkeys(ACTS, stage.acted)
        visible_result(
            RESULT, sight(VIEWERS[name], stage.campaign, stage.windows[kind], SUBMISSIONS[0], acts, stage.acted)
        )
    assert json.dumps(RESULT) == before
