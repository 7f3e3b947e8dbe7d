"""Who takes part in the demo: names, roles, and how each signs in. All addresses end in `.example`: nobody has them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.people.links import make_link
from basanite.campaign.people.persons import add_person
from basanite.campaign.store.tables import Account
from basanite.server.accounts import joining, second_factor

LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class Part:
    """Somebody in the demo."""

    name: str
    role: str
    """What this person is, in words for whoever reads the list of logins."""
    organises: bool = False
    signs_in: bool = True


CAST: Final[Mapping[str, Part]] = {
    "eva": Part("Eva Lindgren", "evaluation lead", organises=True),
    "oscar": Part("Oscar Adeyemi", "administrator", organises=True),
    "ada": Part("Ada Novak", "PI of team Alder"),
    "ben": Part("Ben Ortiz", "member of team Alder"),
    "bea": Part("Béatrice Moreau", "PI of team Birch"),
    "carl": Part("Carl Sørensen", "member of team Birch", signs_in=False),
    "chidi": Part("Chidi Okafor", "PI of team Cedar"),
    "dana": Part("Dana Weiss", "asks to lead a team"),
    "emil": Part("Emil Tanaka", "asks to join team Alder"),
    "judith": Part("Judith Amsel", "is to become a judge", signs_in=False),
    "jana": Part("Jana Petrović", "judge; passages wait for her stars"),
    "aino": Part("Aino Virtanen", "adjudicator; judges disagree"),
    "nora": Part("Nora Lindqvist", "annotator; reports of games wait for her marks"),
    "paul": Part("Paul Osei", "annotator", signs_in=False),
    "kofi": Part("Kofi Mensah", "judge", signs_in=False),
    "lena": Part("Lena Brandt", "judge", signs_in=False),
    "mika": Part("Mika Sato", "judge", signs_in=False),
    "nia": Part("Nia Haddad", "judge", signs_in=False),
    "omar": Part("Omar Rashid", "judge", signs_in=False),
}


@dataclass(frozen=True)
class Login:
    """How one of them signs in."""

    key: str
    role: str
    mail: str
    password: str
    secret: str = ""
    """The shared secret of the second factor; organisers have one."""

    def as_dict(self) -> dict[str, Any]:
        """As it is kept beside the demo."""
        return asdict(self)


def mail_of(key: str) -> str:
    """The address of somebody.

    >>> mail_of("eva")
    'eva@demo.example'
    """
    return f"{key}@demo.example"


def fresh_password() -> str:
    """A password for all accounts of one demo, easy to type."""
    words = ("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(3))
    return "-".join(("demo", *words))


def make_person(session: Session, office: Office, key: str) -> str:
    """A person without a password; gives the id."""
    return add_person(session, office, name=CAST[key].name, mail=mail_of(key), zone="America/New_York").id


def let_in(session: Session, office: Office, key: str, person: str, password: str) -> Login:
    """Set a password by a mailed link, as everybody does, and for organisers a second factor."""
    part = CAST[key]
    joining.reset(session, office, make_link(session, office, "reset", person_id=person).secret, password)
    secret = _with_second_factor(session, office, person) if part.organises else ""
    return Login(key, part.role, mail_of(key), password, secret)


def _with_second_factor(session: Session, office: Office, person: str) -> str:
    secret = second_factor.fresh_secret()
    now = office.clock()
    code = code_at(secret, now.timestamp())
    second_factor.switch_on(session, office, session.get_one(Account, person), secret, code)
    return secret


def code_at(secret: str, seconds: float) -> str:
    """The code of a second factor at a moment, as an authenticator shows it."""
    import pyotp

    return pyotp.TOTP(secret).generate_otp(int(seconds) // second_factor.STEP)
