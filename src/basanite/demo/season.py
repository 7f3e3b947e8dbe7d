"""The season up to today: development, a blind week with an appeal, its release, and other tasks that are open now."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from basanite.campaign.actions import appeals, approvals, calendar, plans, releases, rescoring, upkeep
from basanite.campaign.actions.references import Paths
from basanite.campaign.people import agreements, communication, membership, resources, roles, teams
from basanite.campaign.store.tables import Approval
from basanite.demo import annotation, files
from basanite.demo.files import examples, lacking
from basanite.demo.stage import SIGNED, TEAMS, Login, Stage, fetch, fill_pack, give_out, open_season, open_task
from basanite.synthetic.captions import DescribedImage, coco_annotations, coco_results
from basanite.synthetic.clir import Quality
from basanite.synthetic.identification import domains, languages, write_answers, write_truth
from basanite.synthetic.summaries import Summarised, write_judgements, write_summaries

FIRST: Final = Quality("bm25", 5.0)
"""Where everybody begins."""
BETTER: Final = Quality("dense", 7.5)
GOOD: Final = Quality("dense-rerank", 9.0)
OTHER: Final = Quality("translate-then-search", 7.0)
EAGER: Final = Quality("expansion", 9.0, bias=-2.6)
"""Ranks well, but says yes far too often."""
PI_OF: Final = {team: people[0] for team, people in TEAMS.items()}


def play(stage: Stage, password: str) -> list[Login]:
    """Play the season from its first day to this moment; gives how people sign in."""
    stage.say("People, teams, agreements and data packs …")
    logins = open_season(stage, password)
    stage.say("Development: teams submit runs, and one file is invalid …")
    develop(stage)
    stage.say("A blind evaluation week: one reference was wrong, and an appeal is upheld …")
    blind_week(stage)
    appeal(stage)
    describe(stage)
    release(stage)
    stage.say("Today: a blind week and a development window are open, and requests are waiting …")
    today(stage)
    stage.clock.set(stage.now)
    return [one for one in logins if one.key != annotation.ANNOTATORS[0] or not lacking()]


def develop(stage: Stage) -> None:
    """The development data come out; each team tries, one with a file that has mistakes."""
    stage.days_ago(71)
    give_out(stage, "DEV")
    open_task(stage, "DEV")
    for who in ("ben", "carl", "chidi"):
        fetch(stage, who, "DEV")
    stage.days_ago(66)
    bad = files.write_spoilt("DEV", FIRST, stage.files / "first-try.tgz")
    sent = [stage.submit("ben", "Alder", "DEV", bad, label="firsttry", description=_description(FIRST))]
    sent.append(_run(stage, "carl", "Birch", "DEV", FIRST))
    stage.score(sent)
    stage.days_ago(50)
    stage.score([_run(stage, "ben", "Alder", "DEV", BETTER), _run(stage, "chidi", "Cedar", "DEV", EAGER)])
    upkeep.sign(stage.office)
    _ask_and_answer(stage)


def _description(quality: Quality) -> dict[str, str]:
    return {"text": f"A synthetic system ({quality.label}) for the demo."}


def _run(stage: Stage, who: str, team: str, dataset: str, quality: Quality, kind: str = "contrastive") -> str:
    stage.clock.forward(minutes=7)
    label = quality.label.replace("-", "")
    own = Quality(f"{team}-{quality.label}", quality.separation, quality.bias)
    path = files.write_run(dataset, own, stage.files / f"{dataset}-{own.label}.tgz")
    return stage.submit(who, team, dataset, path, label=label, type=kind, description=_description(quality))


def _ask_and_answer(stage: Stage) -> None:
    words = "May we use the development data to set the threshold for the evaluation week?"
    asked = stage.do(communication.ask_question, stage.actor("chidi"), stage.campaign_id, words)
    stage.clock.forward(hours=3)
    answer = "Yes. The same threshold must hold for all queries."
    stage.do(communication.answer_question, stage.actor("eva"), asked.id, answer)


def blind_week(stage: Stage) -> None:
    """One primary run of each team and one contrastive; teams see that they are valid, and nothing else (M68)."""
    stage.days_ago(34)
    give_out(stage, "EVAL1")
    key, _ = files.write_wrong_key("EVAL1", stage.files / "first-key")
    open_task(stage, "EVAL1", stage.key_of("EVAL1", key))
    stage.days_ago(26)
    sent = [
        _run(stage, "ben", "Alder", "EVAL1", GOOD, "primary"),
        _run(stage, "ben", "Alder", "EVAL1", BETTER),
        _run(stage, "bea", "Birch", "EVAL1", OTHER, "primary"),
        _run(stage, "chidi", "Cedar", "EVAL1", EAGER, "primary"),
    ]
    stage.score(sent)
    stage.days_ago(20)
    _release_level(stage, "week-1", "certification", "every PI reviews their team's results first")


def _release_level(stage: Stage, window: str, level: str, reason: str) -> None:
    """Two people let a level out."""
    asked = stage.do(
        releases.ask, stage.actor("eva"), stage.campaign_id, releases.LevelRelease(window, level, reason=reason)
    )
    if isinstance(asked, Approval):
        stage.clock.forward(minutes=30)
        stage.agree(asked)


def appeal(stage: Stage) -> None:
    """A PI contests a label; the key is fixed, every run is scored again in a preview, and the batch is applied."""
    stage.days_ago(19)
    query = files.write_wrong_key("EVAL1", stage.files / "looked-at")[1]
    grounds = f"Your reference has no relevant document for {query}. Of the first five documents, four are relevant."
    opened = stage.do(appeals.open_appeal, stage.actor("ada"), stage.campaign_id, appeals.Objection("week-1", grounds))
    stage.days_ago(18)
    fixed = stage.add_key("EVAL1", stage.key_of("EVAL1"), reason=f"labels of {query} were missing")
    why, eva = "the annotators agree", stage.actor("eva")
    batch = stage.do(
        appeals.decide_appeal, eva, opened.id, appeals.Decision(upheld=True, reason=why, reference_id=fixed.id)
    )
    if batch is None:
        return
    stage.score_batch(batch.id)
    stage.do(lambda session, office: rescoring.settle(session, rescoring.find(session, batch.id)))
    stage.agree(stage.do(rescoring.ask_to_apply, eva, batch.id))
    for pi in ("ada", "bea"):
        stage.clock.forward(hours=2)
        stage.do(appeals.certify, stage.actor(pi), stage.campaign_id, "week-1")


def describe(stage: Stage) -> None:
    """Beside it, a week of another task: images are described in words."""
    stage.days_ago(16)
    play_other_tasks(stage)


def release(stage: Stage) -> None:
    """The top value, then details, then the public; in public a team has its name only if its PI agrees (P-25)."""
    for days, level, reason in ((14, "top", "certification is over"), (13, "details", ""), (11, "public", "")):
        stage.days_ago(days)
        _release_level(stage, "week-1", level, reason or "as planned")
    for level in ("top", "details", "public"):
        stage.days_ago({"top": 9.8, "details": 9.6, "public": 9.4}[level])
        _release_level(stage, WINDOW, level, "the week is over")
    for pi in ("ada", "bea"):
        team = {person: name for name, person in PI_OF.items()}[pi]
        stage.do(teams.allow_naming, stage.actor(pi), stage.teams[team], agrees=True)
    stage.compare()
    upkeep.sign(stage.office)
    stage.days_ago(8)
    stage.do(
        calendar.set_milestone_state,
        stage.actor("eva"),
        stage.campaign_id,
        calendar.MilestoneUpdate("report-1", "done", "sent to all teams"),
    )
    text = "Values, intervals and groups are on the leaderboard; teams can see their breakdowns with their submissions."
    title = "Results of the first evaluation week are out"
    stage.do(
        communication.announce, stage.actor("eva"), stage.campaign_id, communication.Letter(title=title, text=text)
    )


def read_reports(stage: Stage) -> None:
    """Machine reading, with people who annotate; where what it needs is not installed, that is said."""
    found, missing = examples(), lacking()
    if found is None or missing:
        stage.say(f"Machine reading is left out: {missing}")
    else:
        stage.say("People annotate game reports, and the gold answers of machine reading grow …")
        annotation.play_annotation(stage, found)


def today(stage: Stage) -> None:
    """A blind week and development are open; what was just handed in is left to the worker, and requests wait."""
    stage.days_ago(7)
    give_out(stage, "EVAL2")
    open_task(stage, "EVAL2")
    families = open_tasks(stage)
    stage.days_ago(5)
    annotation.play_panels(stage)
    stage.days_ago(4)
    read_reports(stage)
    stage.days_ago(1.9)
    give_out(stage, "EVAL3")
    _run(stage, "ben", "Alder", "EVAL2", GOOD, "primary")
    _run(stage, "carl", "Birch", "EVAL2", OTHER, "primary")
    _extend(stage)
    _wait_for_two(stage)
    stage.days_ago(0.1)
    _run(stage, "ada", "Alder", "DEV", GOOD)
    _run(stage, "bea", "Birch", "DEV", OTHER)
    _run(stage, "chidi", "Cedar", "EVAL1", BETTER)
    hand_in(stage, families)
    _ask(stage)


def _extend(stage: Stage) -> None:
    """A window closes later than was frozen: a deviation, with its reason (P-27, P-28)."""
    with stage.office.reading() as session:
        window = plans.current(session, stage.campaign_id).campaign.window("dev-2")
    later = f"{window.closes.utc:%Y-%m-%d} 24:00"
    extension = plans.Extension("dev-2", later, reason="a public holiday delayed two teams")
    stage.do(plans.extend_window, stage.actor("eva"), stage.campaign_id, extension)


def _wait_for_two(stage: Stage) -> None:
    """What waits for a second organiser: the key of the final week, and a judge."""
    eva, judge = stage.actor("eva"), stage.people["judith"]
    final = stage.add_key("EVAL3", stage.key_of("EVAL3"), reason="the first version")
    stage.do(approvals.ask_to_open, eva, stage.campaign_id, final.id)
    wanted = roles.RoleGrant(judge, "judge", reason="reads the language of the data")
    stage.do(approvals.ask_to_grant, eva, stage.campaign_id, wanted)


def _ask(stage: Stage) -> None:
    """What waits for an organiser or a PI: a team to be led, a place in a team, a signature, a question."""
    words = "We are a small group at a university, and would like to join for the final week."
    stage.do(teams.ask_to_lead, stage.actor("dana"), stage.campaign_id, text=words)
    stage.do(membership.ask_to_join, stage.actor("emil"), stage.teams["Alder"], site="Kyoto")
    stage.do(agreements.sign, stage.actor("chidi"), stage.teams["Cedar"], "proceedings", copy=SIGNED)
    bought = {"kind": "purchased", "description": "A dictionary of 40,000 entries", "language": "1A"}
    stage.do(resources.declare, stage.actor("bea"), stage.teams["Birch"], resources.NewResource(**bought))
    words = "Will the final week have speech only, or text as well?"
    stage.do(communication.ask_question, stage.actor("ben"), stage.campaign_id, words)


COLORS: Final = {"red": "#c0392b", "blue": "#2563a8", "green": "#2e7d4f", "yellow": "#e0b020", "black": "#222222"}
SHAPES: Final = ("circle", "square", "triangle")
SIZES: Final = {"small": 26, "large": 52}
PLACES: Final = {
    "above": ((160, 55), (160, 165)),
    "below": ((160, 165), (160, 55)),
    "to the left of": ((85, 110), (235, 110)),
    "to the right of": ((235, 110), (85, 110)),
}
"""Where the first shape stands and where the second, when the first is so placed against the second."""
WORDINGS: Final = (
    "a {a.size} {a.color} {a.shape} {place} a {b.size} {b.color} {b.shape}",
    "there is a {a.color} {a.shape} {place} a {b.color} {b.shape}",
    "a {a.color} {a.shape} is {place} a {b.size} {b.color} {b.shape}",
    "the picture shows a {a.size} {a.color} {a.shape} {place} a {b.color} {b.shape}",
    "one {a.size} {a.shape} in {a.color} {place} one {b.size} {b.shape} in {b.color}",
)
"""How people put it, one of them each."""


@dataclass(frozen=True)
class Shape:
    """One shape of a scene."""

    size: str
    color: str
    shape: str


@dataclass(frozen=True)
class Scene:
    """Two shapes, and where the first stands against the second."""

    first: Shape
    second: Shape
    place: str

    def text(self, wording: str) -> str:
        """The scene in words."""
        return wording.format(a=self.first, b=self.second, place=self.place) + "."

    def svg(self) -> str:
        """The scene as a picture."""
        shapes = (_draw_shape(one, *at) for one, at in zip((self.first, self.second), PLACES[self.place], strict=True))
        paper = '<rect width="320" height="220" fill="#faf7f0"/>'
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 220">{paper}{"".join(shapes)}</svg>\n'


def scenes(count: int, *, seed: int) -> list[Scene]:
    """So many scenes."""
    dice = random.Random(seed)
    return [Scene(_shape(dice), _shape(dice), dice.choice(list(PLACES))) for _ in range(count)]


def describe_scenes(images: Sequence[Scene], *, seed: int, quality: float) -> list[DescribedImage]:
    """What people and one system say of each image; people are the same for every system."""
    people, system = random.Random(seed), random.Random(f"{seed} {quality}")
    found = []
    for number, scene in enumerate(images, 1):
        texts = tuple(_guess_scene(people, scene, 0.97).text(wording) for wording in WORDINGS)
        found.append(DescribedImage(number, texts, _guess_scene(system, scene, quality).text(system.choice(WORDINGS))))
    return found


def pack_members(images: Sequence[Scene]) -> list[tuple[str, bytes]]:
    """The files of a data pack: every image, and their list as COCO writes it."""
    listed = [{"id": number, "file_name": f"images/{number:03d}.svg"} for number in range(1, len(images) + 1)]
    content = json.dumps({"images": listed}, indent=1) + "\n"
    drawn = [(one["file_name"], scene.svg()) for one, scene in zip(listed, images, strict=True)]
    return [("images.json", content.encode()), *((str(name), text.encode()) for name, text in drawn)]


def _shape(dice: random.Random) -> Shape:
    return Shape(dice.choice(list(SIZES)), dice.choice(list(COLORS)), dice.choice(SHAPES))


def _guess_scene(dice: random.Random, scene: Scene, quality: float) -> Scene:
    """The scene as somebody sees it who guesses what they do not see."""
    guess = Scene(_shape(dice), _shape(dice), dice.choice(list(PLACES)))
    first, second = (
        _half_seen(dice, *pair, quality) for pair in ((scene.first, guess.first), (scene.second, guess.second))
    )
    return Scene(first, second, scene.place if dice.random() < quality else guess.place)


def _half_seen(dice: random.Random, true: Shape, guess: Shape, quality: float) -> Shape:
    wrong = {name: getattr(guess, name) for name in ("size", "color", "shape") if dice.random() >= quality}
    return replace(true, **wrong)


def _draw_shape(one: Shape, x: int, y: int) -> str:
    half, fill = SIZES[one.size], f'fill="{COLORS[one.color]}"'
    if one.shape == "circle":
        return f'<circle cx="{x}" cy="{y}" r="{half}" {fill}/>'
    if one.shape == "square":
        return f'<rect x="{x - half}" y="{y - half}" width="{2 * half}" height="{2 * half}" {fill}/>'
    return f'<polygon points="{x},{y - half} {x - half},{y + half} {x + half},{y + half}" {fill}/>'


TASK, CAPTIONS_DATASET, WINDOW = "captions", "IMAGES", "captions"
IMAGES, SEED = 80, 4
RUNS: Final[Mapping[str, tuple[str, str, float]]] = {
    "Alder": ("ben", "attention", 0.8),
    "Birch": ("carl", "retrieval", 0.74),
    "Cedar": ("chidi", "templates", 0.45),
}
"""Teams with who hands in, the system, and how good it is."""


def play_other_tasks(stage: Stage) -> None:
    """The images come out, the task opens with what people said of them, and each team describes them once."""
    fill_pack(stage, CAPTIONS_DATASET, "images.tgz", pack_members(scenes(IMAGES, seed=SEED)))
    truth = stage.files / "captions.json"
    truth.write_text(json.dumps(coco_annotations(_images(1.0))), encoding="utf-8")
    open_task(stage, CAPTIONS_DATASET, Paths((truth,)), task=TASK)
    stage.clock.forward(hours=20)
    for team in RUNS:
        stage.score(
            [_hand_in_captions(stage, team)]
        )  # one by one: the process that has loaded what they need is used again


def _hand_in_captions(stage: Stage, team: str) -> str:
    who, system, quality = RUNS[team]
    stage.clock.forward(minutes=11)
    told = {"text": f"A synthetic system ({system}) for the demo."}
    run = stage.files / f"{system}.json"
    run.write_text(json.dumps(coco_results(_images(quality))), encoding="utf-8")
    return stage.submit(who, team, CAPTIONS_DATASET, run, TASK, label=system, type="primary", description=told)


def _images(quality: float) -> list[DescribedImage]:
    return describe_scenes(scenes(IMAGES, seed=SEED), seed=SEED, quality=quality)


DATASET: Final = "DEV"
QUALITY: Final = Quality("summaries", 8.0)
WHO: Final[Mapping[str, tuple[str, str]]] = {
    "E2E": ("ada", "Alder"),
    "DomainID": ("bea", "Birch"),
    "LangID": ("chidi", "Cedar"),
}
"""Who hands in what, and for which team."""


@dataclass(frozen=True)
class Family:
    """One of the other tasks: what opens it, and a run for it."""

    task: str
    paths: Paths
    run: Path


def open_tasks(stage: Stage) -> list[Family]:
    """Open the tasks with their keys."""
    families = [_summaries(stage), *_labels(stage)]
    for one in families:
        open_task(stage, DATASET, one.paths, task=one.task)
    return families


def hand_in(stage: Stage, families: list[Family]) -> None:
    """One run for each of them."""
    for one in families:
        who, team = WHO[one.task]
        stage.clock.forward(minutes=3)
        words = {"text": f"A synthetic system for {one.task}."}
        stage.submit(who, team, DATASET, one.run, one.task, label=one.task.lower(), description=words)


def _summaries(stage: Stage) -> Family:
    """Summaries, and what judges said of them."""
    made = Summarised(files.SPECS[DATASET], QUALITY, team="Alder")
    archive, judged = stage.files / "e2e.tgz", stage.files / "judgements.tsv"
    write_summaries(made, archive)
    write_judgements(made, judged)
    return Family("E2E", Paths((stage.sets[DATASET].key,), judgements=judged), archive)


def _labels(stage: Stage) -> list[Family]:
    """Which documents belong to each domain, and to each language."""
    truths = {"DomainID": domains(files.SPECS[DATASET]), "LangID": languages(files.SPECS[DATASET])}
    made = []
    for task, truth in truths.items():
        key, archive = stage.files / f"{task}-key", stage.files / f"{task}.tgz"
        write_truth(truth, key)
        write_answers(truth, Quality(task, 5.0), archive)
        made.append(Family(task, Paths((key,)), archive))
    return made
