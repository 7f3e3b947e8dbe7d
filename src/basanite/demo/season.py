"""The season up to today: development, a blind week with an appeal, its release, and what is open now."""

from __future__ import annotations

from typing import Final

from basanite.campaign.organising import appeals, due, milestones, plans, releasing, rescoring, seconding
from basanite.campaign.people.saying import announcements, questions
from basanite.campaign.people.teams import joining, making
from basanite.campaign.people.terms import agreements, resources
from basanite.campaign.store.tables import Approval
from basanite.demo import annotating, captions, cast, judging, opening, others, runs
from basanite.demo.examples import examples, lacking
from basanite.demo.stage import Stage
from basanite.synthetic.clir import Quality

FIRST: Final = Quality("bm25", 5.0)
"""Where everybody begins."""
BETTER: Final = Quality("dense", 7.5)
GOOD: Final = Quality("dense-rerank", 9.0)
OTHER: Final = Quality("translate-then-search", 7.0)
EAGER: Final = Quality("expansion", 9.0, bias=-2.6)
"""Ranks well, but says yes far too often."""
PI_OF: Final = {team: people[0] for team, people in opening.TEAMS.items()}


def play(stage: Stage, password: str) -> list[cast.Login]:
    """Play the season from its first day to this moment; gives how people sign in."""
    stage.say("People, teams, agreements and data packs …")
    logins = opening.open_season(stage, password)
    stage.say("Development: teams submit, one file is invalid …")
    develop(stage)
    stage.say("A blind evaluation week; one key was wrong, an appeal is upheld …")
    blind_week(stage)
    appeal(stage)
    describe(stage)
    release(stage)
    stage.say("Today: a blind week and a development window are open, requests wait …")
    today(stage)
    stage.clock.set(stage.now)
    return [one for one in logins if one.key != annotating.ANNOTATORS[0] or not lacking()]


def develop(stage: Stage) -> None:
    """The development data come out; each team tries, one with a file that has mistakes."""
    stage.days_ago(71)
    opening.give_out(stage, "DEV")
    opening.open_task(stage, "DEV")
    for who in ("ben", "carl", "chidi"):
        opening.fetch(stage, who, "DEV")
    stage.days_ago(66)
    bad = runs.write_spoilt("DEV", FIRST, stage.files / "first-try.tgz")
    sent = [stage.submit("ben", "Alder", "DEV", bad, label="firsttry", description=_told(FIRST))]
    sent.append(_run(stage, "carl", "Birch", "DEV", FIRST))
    stage.score(sent)
    stage.days_ago(50)
    stage.score([_run(stage, "ben", "Alder", "DEV", BETTER), _run(stage, "chidi", "Cedar", "DEV", EAGER)])
    due.sign(stage.office)
    _ask_and_answer(stage)


def _told(quality: Quality) -> dict[str, str]:
    return {"text": f"A made-up system ({quality.label}) for the demo."}


def _run(stage: Stage, who: str, team: str, dataset: str, quality: Quality, kind: str = "contrastive") -> str:
    stage.clock.forward(minutes=7)
    label = quality.label.replace("-", "")
    path = stage.run_file(dataset, Quality(f"{team}-{quality.label}", quality.separation, quality.bias))
    return stage.submit(who, team, dataset, path, label=label, type=kind, description=_told(quality))


def _ask_and_answer(stage: Stage) -> None:
    words = "May we use the development data to set the threshold for the evaluation week?"
    asked = stage.do(questions.ask_question, stage.actor("chidi"), stage.campaign_id, words)
    stage.clock.forward(hours=3)
    answer = "Yes. The same threshold must hold for all queries."
    stage.do(questions.answer_question, stage.actor("eva"), asked.id, answer)


def blind_week(stage: Stage) -> None:
    """One primary run of each team and one contrastive; teams see that they are valid, and nothing else (M68)."""
    stage.days_ago(34)
    opening.give_out(stage, "EVAL1")
    key, _ = runs.write_wrong_key("EVAL1", stage.files / "first-key")
    opening.open_task(stage, "EVAL1", stage.key_of("EVAL1", key))
    stage.days_ago(26)
    sent = [
        _run(stage, "ben", "Alder", "EVAL1", GOOD, "primary"),
        _run(stage, "ben", "Alder", "EVAL1", BETTER),
        _run(stage, "bea", "Birch", "EVAL1", OTHER, "primary"),
        _run(stage, "chidi", "Cedar", "EVAL1", EAGER, "primary"),
    ]
    stage.score(sent)
    stage.days_ago(20)
    _released(stage, "week-1", "certification", "every PI looks at the own results first")


def _released(stage: Stage, window: str, level: str, reason: str) -> None:
    """Two people let a level out."""
    asked = stage.do(releasing.ask, stage.actor("eva"), stage.campaign_id, window, level, reason=reason)
    if isinstance(asked, Approval):
        stage.clock.forward(minutes=30)
        stage.agreed(asked)


def appeal(stage: Stage) -> None:
    """A PI contests a label; the key is mended, every run is scored again in a preview, and the batch is applied."""
    stage.days_ago(19)
    query = runs.write_wrong_key("EVAL1", stage.files / "looked-at")[1]
    grounds = f"For {query} no document is relevant in your key. We read the first five: four of them answer it."
    opened = stage.do(appeals.open_appeal, stage.actor("ada"), stage.campaign_id, "week-1", grounds)
    stage.days_ago(18)
    mended = stage.add_key("EVAL1", stage.key_of("EVAL1"), reason=f"labels of {query} were missing")
    why, eva = "the annotators agree", stage.actor("eva")
    batch = stage.do(appeals.decide, eva, opened.id, upheld=True, reason=why, reference_id=mended.id)
    if batch is None:
        return
    stage.score_batch(batch.id)
    stage.do(lambda session, office: rescoring.settle(session, rescoring.find(session, batch.id)))
    stage.agreed(stage.do(seconding.ask_to_apply, eva, batch.id))
    for pi in ("ada", "bea"):
        stage.clock.forward(hours=2)
        stage.do(appeals.certify, stage.actor(pi), stage.campaign_id, "week-1")


def describe(stage: Stage) -> None:
    """Beside it, a week of another task: images are described in words."""
    stage.days_ago(16)
    captions.play(stage)


def release(stage: Stage) -> None:
    """The top value, then details, then the public; in public a team has its name only if its PI agrees (P-25)."""
    for days, level, reason in ((14, "top", "certification is over"), (13, "details", ""), (11, "public", "")):
        stage.days_ago(days)
        _released(stage, "week-1", level, reason or "as planned")
    for level in ("top", "details", "public"):
        stage.days_ago({"top": 9.8, "details": 9.6, "public": 9.4}[level])
        _released(stage, captions.WINDOW, level, "the week is over")
    for pi in ("ada", "bea"):
        team = {person: name for name, person in PI_OF.items()}[pi]
        stage.do(making.allow_naming, stage.actor(pi), stage.teams[team], agrees=True)
    stage.compare()
    due.sign(stage.office)
    stage.days_ago(8)
    stage.do(milestones.set_state, stage.actor("eva"), stage.campaign_id, "report-1", "done", "sent to all teams")
    text = "Values, intervals and groups are on the leaderboard; every team finds its breakdowns with its submissions."
    title = "Results of the first evaluation week are out"
    stage.do(announcements.announce, stage.actor("eva"), stage.campaign_id, title=title, text=text)


def read_reports(stage: Stage) -> None:
    """Machine reading, with people who annotate; where what it needs is not installed, that is said."""
    found, missing = examples(), lacking()
    if found is None or missing:
        stage.say(f"Machine reading is left out: {missing}")
    else:
        stage.say("People annotate reports of games, and the gold of machine reading grows …")
        annotating.play(stage, found)


def today(stage: Stage) -> None:
    """A blind week and development are open; what was just handed in is left to the worker, and requests wait."""
    stage.days_ago(7)
    opening.give_out(stage, "EVAL2")
    opening.open_task(stage, "EVAL2")
    families = others.open_tasks(stage)
    stage.days_ago(5)
    judging.play(stage)
    stage.days_ago(4)
    read_reports(stage)
    stage.days_ago(1.9)
    opening.give_out(stage, "EVAL3")
    _run(stage, "ben", "Alder", "EVAL2", GOOD, "primary")
    _run(stage, "carl", "Birch", "EVAL2", OTHER, "primary")
    _extend(stage)
    _wait_for_two(stage)
    stage.days_ago(0.1)
    _run(stage, "ada", "Alder", "DEV", GOOD)
    _run(stage, "bea", "Birch", "DEV", OTHER)
    _run(stage, "chidi", "Cedar", "EVAL1", BETTER)
    others.hand_in(stage, families)
    _ask(stage)


def _extend(stage: Stage) -> None:
    """A window closes later than was frozen: a deviation, with its reason (P-27, P-28)."""
    with stage.office.reading() as session:
        window = plans.current(session, stage.campaign_id).campaign.window("dev-2")
    later = f"{window.closes.utc:%Y-%m-%d} 24:00"
    who = (stage.actor("eva"), stage.campaign_id, "dev-2", later)
    stage.do(plans.extend_window, *who, reason="two teams were held up by a public holiday")


def _wait_for_two(stage: Stage) -> None:
    """What waits for a second organiser: the key of the final week, and a judge."""
    eva, judge = stage.actor("eva"), stage.people["judith"]
    final = stage.add_key("EVAL3", stage.key_of("EVAL3"), reason="the first version")
    stage.do(seconding.ask_to_open, eva, stage.campaign_id, final.id)
    stage.do(seconding.ask_to_grant, eva, stage.campaign_id, judge, "judge", reason="reads the language of the data")


def _ask(stage: Stage) -> None:
    """What waits for an organiser or a PI: a team to be led, a place in a team, a signature, a question."""
    words = "We are a small group at a university, and would like to join for the final week."
    stage.do(making.ask_to_lead, stage.actor("dana"), stage.campaign_id, text=words)
    stage.do(joining.ask_to_join, stage.actor("emil"), stage.teams["Alder"], site="Kyoto")
    stage.do(agreements.sign, stage.actor("chidi"), stage.teams["Cedar"], "proceedings", copy=opening.SIGNED)
    bought = {"kind": "purchased", "description": "A dictionary of 40,000 entries", "language": "1A"}
    stage.do(resources.declare, stage.actor("bea"), stage.teams["Birch"], **bought)
    words = "Will the final week have speech only, or text as well?"
    stage.do(questions.ask_question, stage.actor("ben"), stage.campaign_id, words)
