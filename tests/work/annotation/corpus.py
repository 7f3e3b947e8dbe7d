"""A person who annotates again what the example's annotations say, by the form alone: game, team, field, words.

It knows the categories of `nfl-scoring.yaml` and nothing of templates, so that what the mapping makes of its events can
be held against what was annotated before.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from basanite.problems import Findings
from basanite.reading.package import read_package
from basanite.reading.terms import Literal
from basanite.work.annotation.config import read_config
from basanite.work.annotation.events import Event

ROOT = Path(__file__).parents[3]
NFL = ROOT / "examples" / "reading" / "nfl"
CONFIG = ROOT / "examples" / "annotation" / "nfl-scoring.yaml"
COUNTS = {
    "touchdownCompleteCount": "TD",
    "onePointConversionCompleteCount": "OnePC",
    "twoPointConversionCompleteCount": "TwoPC",
    "fieldGoalCompleteCount": "FG",
    "safetyCompleteCount": "Safety",
}
YES = {"true": "yes", "false": "no"}
SIDES = {
    "gameWinner": ("Status", "won"),
    "gameLoser": ("Status", "lost"),
    "homeTeamInGame": ("HomeAway", "home"),
    "awayTeamInGame": ("HomeAway", "away"),
}


def nfl_config():
    """The configuration of the paper's use case."""
    config, problems = read_config(CONFIG, NFL)
    assert config is not None, problems
    return config


def nfl_package():
    """The package that it is for."""
    return read_package(NFL, Findings())


def local(term):
    """The last part of a name."""
    return term.lexical if isinstance(term, Literal) else str(term).strip("<>").rpartition("#")[2]


class Annotator:
    """Turns the annotated statements of one document into events."""

    def __init__(self, assertions):
        self.assertions = list(assertions)
        self.events = []
        self.teams = {}
        self.games = {}

    def do(self, kind, **data):
        """Do one thing in the form."""
        self.events.append(Event(f"e{len(self.events) + 1}", kind, data))

    def mark(self, object_, assertion, role, field="mention"):
        """Mark the words of a role, each piece by itself."""
        for span in assertion.spans:
            if span.role == role:
                self.do("span.add", object=object_, field=field, parts=[[span.start, span.end]])

    def about(self, *names):
        """The assertions with one of these properties."""
        return [one for one in self.assertions if local(one.statement.predicate) in names]

    def annotate(self):
        """Fill in the whole form."""
        for one in self.about("type"):
            if local(one.statement.object) == "NFLGame":
                self.games[one.statement.subject] = f"g{len(self.games) + 1}"
                self.do("create", object=self.games[one.statement.subject], category="Game", parent="")
                self.mark(self.games[one.statement.subject], one, "subject")
        self.in_games()
        self.in_teams()
        self.scores()
        return self.events

    def in_games(self):
        """What is said of a game itself."""
        fields = {"gameDate": ("Date", "object"), "numberOfPeriods": ("Periods", "object")}
        for one in self.about("gameDate", "numberOfPeriods", "hasOvertimePlay"):
            game = self.games[one.statement.subject]
            category, role = fields.get(local(one.statement.predicate), ("Overtime", "statement"))
            self.mark(f"{game}/{category}", one, role)
            value = local(one.statement.object)
            self.do("set", object=f"{game}/{category}", field="value", value=YES.get(value, value))

    def in_teams(self):
        """Teams, their names, and whether they won or played at home."""
        for one in self.about("teamInGame"):
            game, team = self.games[one.statement.subject], one.statement.object
            id_ = self.teams[one.statement.subject, team] = f"t{len(self.teams) + 1}"
            self.do("create", object=id_, category="Team", parent=game)
            self.do("set", object=id_, field="name", value=local(team))
            self.mark(id_, one, "object")
        for number, one in enumerate(self.about("teamName")):
            id_ = next(id_ for (_, team), id_ in self.teams.items() if team == one.statement.subject)
            self.do("create", object=f"c{number}", category="CalledBy", parent=id_)
            self.mark(f"c{number}", one, "object")
        for one in self.about(*SIDES):
            category, value = SIDES[local(one.statement.predicate)]
            id_ = f"{self.teams[one.statement.subject, one.statement.object]}/{category}"
            self.do("set", object=id_, field="value", value=value)
            self.mark(id_, one, "predicate")
            self.mark(id_, one, "object", "team")
            self.inferred(id_, one)

    def scores(self):
        """Final scores and counts of events."""
        games = {one.statement.object: one.statement.subject for one in self.about("teamFinalScoreInGame")}
        ids = {}
        for one in self.about("teamScoringAll"):
            ids[one.statement.subject] = self.teams[games[one.statement.subject], one.statement.object]
            self.mark(f"{ids[one.statement.subject]}/Score", one, "object", "team")
        for one in self.about("pointsScored"):
            id_ = f"{ids[one.statement.subject]}/Score"
            self.do("set", object=id_, field="value", value=local(one.statement.object))
            self.mark(id_, one, "object")
            self.inferred(id_, one)
        for number, one in enumerate(self.about(*COUNTS)):
            self.do("row.add", object=f"r{number}", category="Event", parent=ids[one.statement.subject])
            self.do("set", object=f"r{number}", field="type", value=COUNTS[local(one.statement.predicate)])
            self.do("set", object=f"r{number}", field="count", value=local(one.statement.object))
            self.mark(f"r{number}", one, "object")
            self.inferred(f"r{number}", one)

    def inferred(self, object_, assertion):
        """Tick the box, where what was annotated is inferred."""
        if assertion.kind == "inferred":
            self.do("inferred", object=object_, value=True)


def by_document(package, part):
    """The documents of a part, each with its assertions."""
    documents, found = package.documents(part), defaultdict(list)
    for one in package.assertions(part, documents):
        found[one.document].append(one)
    return [(documents[name], several) for name, several in sorted(found.items())]
