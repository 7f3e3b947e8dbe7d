"""Names of teams and systems: one script, no two that the eye could take for each other, and a TeamID for archives.

The skeleton of a name is what the eye sees: NFKD without marks, each look-alike replaced by one letter (X-14). The
table holds the common look-alikes of Latin, Cyrillic, Greek and digits, not the thousands of Unicode's own list
(UTS 39); names of other scripts are compared by NFKC and case alone. A name must be of one script, so that a mixture
that the table lacks cannot be made at all.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model.policy import STAFF
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Office
from basanite.campaign.store.personal import unseal
from basanite.campaign.store.tables import Grant, Membership, Person, Team
from basanite.problems import Problem, shortened

LONGEST = 60
LONGEST_TEAM_ID = 20
SPACES = " -_.'&"
LOOK_ALIKE = (
    "o0οоօᴏⲟꓳ l1iı|ιіӏǀɪʟꓡꓲ s5ѕꜱꓢ b8ьвβʙꓐ z2ζᴢꓜ g9ɡɢꓖ aаαɑᴀꓮ cсϲᴄꓚ eеε3зᴇꓰ pрρᴘꓑ xхχ×ꓫ yуγүʏꓬ hһнηʜꓧ kкκᴋꓗ mмμᴍꓟ "
    "nпոɴꓠ tтτᴛꓔ jјϳᴊꓙ uυսᴜꓴ vνѵᴠꓦ wωшԝᴡꓪ dԁδᴅꓓ fғꜰꓝ qԛ rгʀꓣ"
)
"""Words of characters that look alike in lower case; the first one stands for all."""
CAPITALS = "aΑᎪ bΒᏴ cᏟ dᎠ eΕᎬ gᏀ hΗᎻ jᎫ kΚᏦ lΙᏞ mΜᎷ nΝ oΟ pΡᏢ rᎡᏒ sᏚ tΤᎢ vᏙ wᎳ xΧ yΥ zΖᏃ"
"""Capitals that look like others than their small letters do, as the Greek nu does."""
FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and signs that are drawn as nothing."""
_BIG = str.maketrans({char: alike[0] for alike in CAPITALS.split() for char in alike[1:]})
_TABLE = str.maketrans({char: alike[0] for alike in LOOK_ALIKE.split() for char in alike[1:]})
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))
SCRIPTS = (
    "LATIN",
    "CYRILLIC",
    "GREEK",
    "ARABIC",
    "HEBREW",
    "CJK",
    "HIRAGANA",
    "KATAKANA",
    "HANGUL",
    "DEVANAGARI",
    "THAI",
)
JAPANESE = frozenset({"CJK", "HIRAGANA", "KATAKANA"})
WORDS = Path(__file__).with_name("pseudonyms.txt")


def plain_name(name: str) -> str:
    """A name as it is kept: NFKC, single spaces, nothing around it.

    >>> plain_name("  Ｔｅａｍ   Ada ")
    'Team Ada'
    """
    return " ".join(unicodedata.normalize("NFKC", name).split())


def skeleton(name: str) -> str:
    """What the eye sees: two names with one skeleton can be taken for each other.

    >>> skeleton("Pаypаl 0ne") == skeleton("paypal one")
    True
    >>> skeleton("modern") == skeleton("modem")
    True
    """
    bare = "".join(char for char in unicodedata.normalize("NFKD", plain_name(name)) if not unicodedata.combining(char))
    plain = "".join(char for char in bare if is_seen(char)).translate(_BIG).casefold()
    seen = "".join(char for char in plain if char.isalnum() or char == "|").translate(_TABLE)
    for pair, letter in _PAIRS:
        seen = seen.replace(pair, letter)
    return seen


def is_seen(char: str) -> bool:
    """Whether a character is drawn, or parts words: no filler, control, format or direction mark is.

    >>> [is_seen(char) for char in "a \\u200b\\u202e\\u3164"]
    [True, True, False, False, False]
    """
    return char not in FILLERS and (char.isprintable() or char.isspace())


def scripts(name: str) -> frozenset[str]:
    """The scripts of a name's letters; Japanese writing counts as one.

    >>> sorted(scripts("Αdа"))
    ['CYRILLIC', 'GREEK', 'LATIN']
    """
    found = {_script(char) for char in plain_name(name) if char.isalpha() and unicodedata.category(char) != "Lm"}
    return frozenset({"JAPANESE"} | (found - JAPANESE)) if found & {"HIRAGANA", "KATAKANA"} else frozenset(found)


def name_problems(name: str, *, what: str = "name") -> Iterable[Problem]:
    """Everything wrong with a name that strangers will read."""
    plain = plain_name(name)
    if not 2 <= len(plain) <= LONGEST:
        yield _problem(f"the {what} has {len(plain)} characters", f"write 2 to {LONGEST}", name)
    if odd := sorted({char for char in plain if not (char.isalnum() or char in SPACES or unicodedata.combining(char))}):
        yield _problem(f"the {what} contains {odd[0]!a}", "use letters, digits, spaces and - _ . ' &", name)
    if len(mixed := sorted(scripts(plain))) > 1:
        yield _problem(
            f"the {what} mixes {' and '.join(script.title() for script in mixed)} letters",
            "use letters of one script",
            name,
        )
    if plain and not skeleton(plain):
        yield _problem(f"the {what} contains no letters or digits", "start with a letter", name)


def team_id_problems(team_id: str) -> Iterable[Problem]:
    """What is wrong with the name of a team in archive names: letters a to z and digits alone (M56)."""
    if not re.fullmatch(rf"[a-zA-Z0-9]{{2,{LONGEST_TEAM_ID}}}", team_id):
        yield Problem(
            "M56",
            "",
            None,
            None,
            "this is not a valid TeamID",
            f"write 2 to {LONGEST_TEAM_ID} letters a-z or digits",
            shortened(team_id),
        )


def random_pseudonym(taken: Iterable[str]) -> str:
    """A name that tells nothing about the team, drawn at random (P-25)."""
    return next(random_pseudonyms(taken))


def random_pseudonyms(taken: Iterable[str]) -> Iterator[str]:
    """As many such names as are wanted, each another one."""
    used, words = set(taken), WORDS.read_text(encoding="utf-8").split()
    while True:
        name = f"{secrets.choice(words)}-{secrets.choice(words)}-{secrets.randbelow(900) + 100}"
        if name not in used:
            used.add(name)
            yield name


def _script(char: str) -> str:
    first = unicodedata.name(char, "UNKNOWN").split()[0].removesuffix("-A")
    return first if first in SCRIPTS else "OTHER " + first


def _problem(message: str, fix: str, found: str) -> Problem:
    return Problem("X-14", "", None, None, message, fix, shortened(found))


TITLES: Final = "organizer organizers organiser organisers administrator administrators admin moderator"
"""Words that say that somebody runs the evaluation."""
OFFICES: Final = ("evaluation team", "the evaluation team", "the server", "the command line", "system", "erased")
"""How pages call those who are no person."""
_TITLES: Final = frozenset(map(skeleton, TITLES.split()))
_OFFICES: Final = frozenset(map(skeleton, OFFICES))
TAKEN: Final = "this name can be confused with that of an organizer or another team"
OTHER: Final = "choose another one, or add a middle name or an initial"


def check_person_name(session: Session, office: Office, name: str, *, person_id: str | None = None) -> None:
    """Refuse the name of a person that can be taken for somebody else's; no name at all is to be chosen later."""
    if found := list(_person_problems(session, office, name, person_id)):
        raise RefusedError(found, status=422)


def free_name(session: Session, office: Office, *wanted: str) -> str:
    """The first of these names that nobody is taken for somebody else by; a number, if there is none."""
    for name in wanted:
        plain = "".join(char for char in name if char.isprintable())[:100].strip()
        if plain and not list(_person_problems(session, office, plain, None)):
            return plain
    return f"Somebody {secrets.randbelow(9000) + 1000}"


def team_name_problems(session: Session, office: Office, campaign_id: str, name: str) -> Iterator[Problem]:
    """What is wrong with the name of a new team of a campaign besides its letters."""
    seen = skeleton(name)
    teams = session.execute(select(Team.name, Team.pseudonym).where(Team.campaign_id == campaign_id)).all()
    if seen in {skeleton(one) for row in teams for one in row}:
        message, fix = "another team's name looks the same", "choose a name that cannot be confused with it"
        yield Problem("X-14", "", None, None, message, fix)
    if seen in organizer_looks(session, office) or claims_office(name):
        yield _likeness_problem(TAKEN, OTHER, name)


def _person_problems(session: Session, office: Office, name: str, person_id: str | None) -> Iterator[Problem]:
    if name:
        seen = organizer_looks(session, office, besides=person_id) | _teams_beside(session, person_id)
        yield from person_name_problems(name, seen)


def person_name_problems(name: str, taken: Container[str]) -> Iterator[Problem]:
    """What is wrong with the name of a person, by what names it must not look like; no name is to be chosen later."""
    if not name:
        return
    if not all(map(is_seen, name)) or not skeleton(name):
        yield _likeness_problem("the name contains invisible characters", "use only the letters of your name", name)
    if any(len(scripts(word)) > 1 for word in name.split()):
        yield _likeness_problem(
            "a word of the name mixes letters of several scripts", "write each word in one script", name
        )
    if skeleton(name) in taken or claims_office(name):
        yield _likeness_problem(TAKEN, OTHER, name)


def claims_office(name: str) -> bool:
    """Whether a name says that its owner runs the evaluation."""
    words = map(skeleton, re.split(r"[\W_]+", name))
    return skeleton(name) in _OFFICES or not _TITLES.isdisjoint(words)


def organizer_looks(session: Session, office: Office, *, besides: str | None = None) -> set[str]:
    """What the names of all who run an evaluation here look like."""
    holding = select(Grant.person_id).where(Grant.role.in_(STAFF), Grant.ended.is_(None))
    rows = session.scalars(select(Person).where(Person.id.in_(holding)).order_by(Person.id).with_for_update(read=True))
    return {skeleton(unseal(office.vault, row).name) for row in rows if row.id != besides} - {""}


def _teams_beside(session: Session, person_id: str | None) -> set[str]:
    """What the names of the other teams look like, in the campaigns that somebody has to do with."""
    if person_id is None:
        return set()
    granted = select(Grant.campaign_id).where(Grant.person_id == person_id, Grant.ended.is_(None))
    own = select(Membership.team_id).where(Membership.person_id == person_id, Membership.state.in_(("active", "asked")))
    placed = select(Team.campaign_id).where(Team.id.in_(own))
    here = or_(Team.campaign_id.in_(granted), Team.campaign_id.in_(placed))
    beside = select(Team.name).where(here, Team.id.not_in(own), Team.state == "active")
    return set(map(skeleton, session.scalars(beside)))


def _likeness_problem(message: str, fix: str, found: str) -> Problem:
    return Problem("X-26", "", None, None, message, fix, shortened(found))
