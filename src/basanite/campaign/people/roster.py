"""People and teams from a table: what a CSV says, and every mistake in it with its line, in one pass (P-43).

Nothing here asks the database: what is known is looked up once (`roster_entry`), so that 10,000 lines take seconds.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from basanite.campaign.model.policy import JUDGING
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.names import (
    claims_office,
    name_problems,
    person_name_problems,
    plain_name,
    skeleton,
    team_id_problems,
)
from basanite.campaign.people.persons import personal_problems
from basanite.campaign.store.personal import normal_mail
from basanite.campaign.store.tables.people import code_of
from basanite.problems import Problem, shortened

RULE: Final = "P-43"
COLUMNS: Final = ("mail", "name", "team", "role", "track", "code", "site")
OTHER_NAMES: Final = {"email": "mail", "e-mail": "mail", "email address": "mail", "organization": "site"}
TEAM_ROLES: Final = ("pi", "member")
ROLES: Final = (*TEAM_ROLES, *sorted(JUDGING))
MOST_LINES: Final = 50_000
LONGEST_CELL: Final = 1000
MANY: Final = 10
"""So many lines with one mistake may have one cause, which is told first (D-7)."""


@dataclass(frozen=True)
class Line:
    """One line of a table: its number, and its cells by column."""

    number: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")

    def problem(self, message: str, fix: str, found: str = "", *, rule: str = RULE) -> Problem:
        """A mistake in this line."""
        return Problem(rule, "", self.number, None, message, fix, shortened(found))


@dataclass(frozen=True)
class KnownTeam:
    """A team that is there, or was."""

    id: str
    name: str
    active: bool = True
    pi: str = ""
    track: str = ""
    code: str = ""


@dataclass(frozen=True)
class Known:
    """What a campaign has of the people and teams that a table names."""

    people: Mapping[str, str] = field(default_factory=dict)
    """Who has an account, by address."""
    teams: Mapping[str, KnownTeam] = field(default_factory=dict)
    """By what their names look like."""
    looks: frozenset[str] = frozenset()
    """What names no team may look like: pseudonyms, and names of organizers."""
    codes: frozenset[str] = frozenset()
    """What the TeamIDs in use look like."""
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The team of a person, and whether it is `active` or `asked`."""
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The roles of a person that keep them out of teams."""
    excepted: frozenset[str] = frozenset()
    """Who may judge and take part, with leave (X-4)."""
    organizers: frozenset[str] = frozenset()
    """What the names of organizers look like."""
    tracks: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedTeam:
    """A team that the table makes, with its lines."""

    name: str
    code: str
    track: str
    pi: Line
    members: tuple[Line, ...]


@dataclass(frozen=True)
class Roster:
    """What a table asks for, once nothing is wrong with it."""

    newcomers: tuple[Line, ...] = ()
    teams: tuple[PlannedTeam, ...] = ()
    joining: tuple[tuple[str, Line], ...] = ()
    """Members of teams that are there, by the id of the team."""
    roles: tuple[tuple[str, Line], ...] = ()
    unchanged: int = 0
    """Lines that say what is so already."""


def read_lines(text: str, columns: Sequence[str], needed: Sequence[str]) -> tuple[Line, ...]:
    """The lines of a table with a header; refused where it is none, for then every line would be wrong."""
    rows = _rows(text)
    if not rows:
        raise _unreadable(1, "the table is empty", f"write a header line: {','.join(columns)}")
    names = [OTHER_NAMES.get(cell.strip().lower(), cell.strip().lower()) for cell in rows[0][1]]
    _check_header(names, columns, needed)
    lines = [_line(number, names, cells) for number, cells in rows[1:] if any(cell.strip() for cell in cells)]
    wrong = [one for one in lines if isinstance(one, Problem)]
    if wrong:
        raise RefusedError([*common_causes(wrong, len(lines)), *wrong], status=422)
    found = tuple(one for one in lines if isinstance(one, Line))
    if not found:
        raise _unreadable(None, "the table has a header and no lines", "add one line for each person")
    return found


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Every row with the number of the line on which it begins."""
    if "\ufffd" in text:
        line = text.partition("\ufffd")[0].count("\n") + 1
        raise _unreadable(line, "the line is not UTF-8 text", "save the table as UTF-8")
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    first = plain.partition("\n")[0]
    sign = max(",;\t", key=first.count)
    reader, begins = csv.reader(io.StringIO(plain, newline=""), delimiter=sign, strict=True), 1
    rows: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            rows.append((begins, cells))
            begins = reader.line_num + 1
            if len(rows) > MOST_LINES:
                raise _unreadable(begins, f"the table has more than {MOST_LINES:,} lines", "split it")
    except csv.Error as error:
        raise _unreadable(begins, f"the line cannot be read: {error}", "check its quotation marks") from None
    return rows


def _check_header(names: Sequence[str], columns: Sequence[str], needed: Sequence[str]) -> None:
    lacking = [name for name in needed if name not in names]
    if lacking:
        fix = f"name the columns in the first line: {', '.join(columns)}"
        raise _unreadable(1, f"the header has no column {' and no column '.join(lacking)}", fix)
    for name, times in Counter(names).items():
        if name not in columns:
            near = f"leave it out; the columns are {', '.join(columns)}"
            raise _unreadable(1, f"there is no column {shortened(name)!r}", near)
        if times > 1:
            raise _unreadable(1, f"the header has the column {name} twice", "leave one out")


def _line(number: int, names: Sequence[str], cells: Sequence[str]) -> Line | Problem:
    if len(cells) != len(names):
        message = f"the line has {len(cells)} cells, and the header {len(names)}"
        return Problem(RULE, "", number, None, message, "write one cell for each column; quote cells with commas")
    if any(len(cell) > LONGEST_CELL for cell in cells):
        return Problem(RULE, "", number, None, "a cell is too long", f"write at most {LONGEST_CELL} characters")
    return Line(number, {name: cell.strip() for name, cell in zip(names, cells, strict=True)})


def _unreadable(line: int | None, message: str, fix: str) -> RefusedError:
    return RefusedError(Problem(RULE, "", line, None, message, fix), status=422)


def common_causes(found: Sequence[Problem], lines: int) -> Iterator[Problem]:
    """What is wrong with most lines is told once, before them (D-7)."""
    for (message, fix), times in Counter((one.message, one.fix) for one in found).items():
        if times >= MANY and 2 * times > lines:
            yield Problem(RULE, "", None, None, f"{times:,} of {lines:,} lines: {message}", fix)


def plan_roster(lines: Sequence[Line], known: Known) -> Roster:
    """What the table asks for; refused with every mistake in it, in the order of its lines."""
    checks = _Checks(lines, known)
    found = sorted(checks.problems(), key=lambda one: one.line or 0)
    if found:
        raise RefusedError([*common_causes(found, len(lines)), *found], status=422)
    return checks.roster()


class _Checks:
    """The table beside what is known."""

    def __init__(self, lines: Sequence[Line], known: Known) -> None:
        self.lines, self.known = lines, known
        self.teams: dict[str, list[Line]] = defaultdict(list)
        for line in lines:
            if line["team"]:
                self.teams[plain_name(line["team"])].append(line)
        self.looks = {name: skeleton(name) for name in self.teams}
        self.mails = [normal_mail(line["mail"]) for line in lines]

    def problems(self) -> Iterator[Problem]:
        """Every mistake."""
        judging = {mail for mail, line in zip(self.mails, self.lines, strict=True) if line["role"].lower() in JUDGING}
        placed: dict[str, Line] = {}
        given: dict[tuple[str, str], Line] = {}
        for mail, line in zip(self.mails, self.lines, strict=True):
            yield from self._of_line(mail, line)
            if line["team"]:
                yield from self._of_place(mail, line, placed, judging)
            yield from _repeats(given, (mail, line["role"].lower() if not line["team"] else "team"), line)
        yield from self._of_teams()

    def _of_line(self, mail: str, line: Line) -> Iterator[Problem]:
        """What is wrong with a line by itself."""
        for one in personal_problems(line["name"], line["mail"]):
            yield line.problem(one.message, one.fix, line["mail"] if one.field == 2 else line["name"], rule=one.rule)
        if mail not in self.known.people:
            for one in person_name_problems(line["name"], self.known.organizers):
                yield line.problem(one.message, one.fix, line["name"], rule=one.rule)
        role = line["role"].lower()
        if role and role not in ROLES:
            fix = f"write one of {', '.join(ROLES)}; organizers are made on the page of people"
            yield line.problem(f"there is no role {shortened(line['role'])!r}", fix)
        elif role in JUDGING and line["team"]:
            yield line.problem("a judging role and a team exclude each other", "leave one of them empty", rule="X-4")
        elif role in JUDGING and self._team_of(line) and self.known.people[mail] not in self.known.excepted:
            yield line.problem("this person is in a team of the campaign", "remove the line", rule="X-4")
        elif role in TEAM_ROLES and not line["team"]:
            yield line.problem(f"a {role} needs a team", "write the name of the team")
        for column in ("track", "code"):
            if line[column] and not line["team"]:
                yield line.problem(f"a {column} belongs to a team", "write the name of the team")
        if line["track"] and line["track"] not in self.known.tracks:
            there = ", ".join(self.known.tracks)
            fix = f"write one of {there}" if there else "leave the column empty: this campaign has no tracks"
            yield line.problem(f"there is no track {shortened(line['track'])!r}", fix)

    def _of_place(self, mail: str, line: Line, placed: dict[str, Line], judging: set[str]) -> Iterator[Problem]:
        """Whether this person can be in this team: in no other, and without a role that judges it (X-4, X-7)."""
        before = placed.setdefault(mail, line)
        if before is not line and plain_name(before["team"]) != plain_name(line["team"]):
            fix = "keep one of the lines: a person is in one team of a campaign"
            yield line.problem(f"this person is in another team on line {before.number}", fix, rule="X-7")
        person = self.known.people.get(mail, "")
        team, state = self.known.members.get(person, ("", ""))
        if team and (state == "asked" or team != self._known_id(line)):
            what = "has asked to join a team" if state == "asked" else "is in another team"
            yield line.problem(f"this person {what} of the campaign", "remove the line, or end that first", rule="X-7")
        if mail in judging or (self.known.roles.get(person) and person not in self.known.excepted):
            fix = "remove the line, or revoke the role first"
            yield line.problem("this person judges or organizes the campaign", fix, rule="X-4")

    def _known_id(self, line: Line) -> str:
        known = self.known.teams.get(self.looks[plain_name(line["team"])])
        return known.id if known is not None else ""

    def _of_teams(self) -> Iterator[Problem]:
        seen: dict[str, str] = {}
        codes: dict[str, str] = {}
        for name, lines in self.teams.items():
            known = self.known.teams.get(self.looks[name])
            if known is not None:
                yield from self._of_known_team(name, lines, known)
                continue
            twin = seen.setdefault(self.looks[name], name)
            if twin != name:
                message = f"the team's name looks like that of {shortened(twin)!r} on line {self.teams[twin][0].number}"
                yield lines[0].problem(message, "write both alike, or choose another name", name, rule="X-14")
                continue
            yield from self._of_new_team(name, lines, codes)

    def _of_new_team(self, name: str, lines: Sequence[Line], codes: dict[str, str]) -> Iterator[Problem]:
        first = lines[0]
        for one in name_problems(name, what="team name"):
            yield first.problem(one.message, one.fix, name, rule=one.rule)
        if self.looks[name] in self.known.looks or claims_office(name):
            yield first.problem("the team's name can be confused with another's", "choose another name", name)
        for column in ("track", "code"):
            if len(held := {line[column] for line in lines if line[column]}) > 1:
                yield first.problem(f"the team has several values of {column}: {', '.join(sorted(held))}", "write one")
        code = code_in(lines) or code_of(name)
        for one in team_id_problems(code):
            yield first.problem(one.message, f"{one.fix} into the column code", code, rule=one.rule)
        if skeleton(code) in self.known.codes or codes.setdefault(skeleton(code), name) != name:
            yield first.problem("another team has a TeamID that looks the same", "choose another in the column code")
        leaders = [line for line in lines if line["role"].lower() == "pi"]
        if len(leaders) > 1:
            yield leaders[1].problem(f"the team has another PI on line {leaders[0].number}", "name one PI a team")
        if not leaders and len(lines) > 1:
            yield first.problem("the new team has no PI", "write pi as the role of one of its lines", name)

    def _of_known_team(self, name: str, lines: Sequence[Line], known: KnownTeam) -> Iterator[Problem]:
        if known.name != name:
            message, fix = f"the team's name looks like that of {shortened(known.name)!r}", "write it as it is"
            yield lines[0].problem(message, f"{fix}, or choose another", name, rule="X-14")
            return
        if not known.active:
            yield lines[0].problem("a team of this name was closed", "choose another name", name)
            return
        for line in lines:
            leads = self.known.people.get(normal_mail(line["mail"])) == known.pi
            if line["role"].lower() == "pi" and not leads:
                yield line.problem("the team is there and has a PI", "write member; the PI hands the team over", name)
            for column, held in (("track", known.track), ("code", known.code)):
                if line[column] not in ("", held):
                    yield line.problem(f"the team is there: its {column} is not changed here", "leave the cell empty")

    def roster(self) -> Roster:
        """What is to be done, once there are no mistakes."""
        fresh: dict[str, Line] = {}
        for mail, line in zip(self.mails, self.lines, strict=True):
            if mail not in self.known.people:
                fresh.setdefault(mail, line)
        made = [_team_of(name, lines) for name, lines in self.teams.items() if self.looks[name] not in self.known.teams]
        there = [
            (self.known.teams[self.looks[name]].id, line)
            for name, lines in self.teams.items()
            if self.looks[name] in self.known.teams
            for line in lines
        ]
        joining = [(team, line) for team, line in there if self._team_of(line) != team]
        judging = [(line["role"].lower(), line) for line in self.lines if line["role"].lower() in JUDGING]
        roles = [(role, line) for role, line in judging if role not in self._roles_of(line)]
        bare = [line for line in self.lines if not line["team"] and not line["role"]]
        idle = sum(normal_mail(line["mail"]) not in fresh for line in bare)
        unchanged = len(there) - len(joining) + len(judging) - len(roles) + idle
        return Roster(tuple(fresh.values()), tuple(made), tuple(joining), tuple(roles), unchanged)

    def _team_of(self, line: Line) -> str:
        return self.known.members.get(self.known.people.get(normal_mail(line["mail"]), ""), ("", ""))[0]

    def _roles_of(self, line: Line) -> frozenset[str]:
        return self.known.roles.get(self.known.people.get(normal_mail(line["mail"]), ""), frozenset())


def _repeats(given: dict[tuple[str, str], Line], what: tuple[str, str], line: Line) -> Iterator[Problem]:
    before = given.setdefault(what, line)
    if before is not line and plain_name(before["team"]) == plain_name(line["team"]):
        yield line.problem(f"the line repeats line {before.number}", "remove one of them")


def _team_of(name: str, lines: Sequence[Line]) -> PlannedTeam:
    pi = next((line for line in lines if line["role"].lower() == "pi"), lines[0])
    code, track = code_in(lines) or code_of(name), next((line["track"] for line in lines if line["track"]), "")
    return PlannedTeam(name, code, track, pi, tuple(line for line in lines if line is not pi))


def code_in(lines: Iterable[Line]) -> str:
    """The TeamID that the lines of a team give; "" where none does."""
    return next((line["code"] for line in lines if line["code"]), "")
