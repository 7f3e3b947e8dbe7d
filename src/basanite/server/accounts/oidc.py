"""Signing in elsewhere by OpenID Connect: code flow with PKCE and nonce; a person is (issuer, subject) (X-11).

GitHub is asked by the same trip, and says by itself who came (`github`).

Nothing a provider says gives a role, and its mail address never joins two accounts. The round trip is kept in a signed
cookie of this browser, so that a state made for somebody else is worth nothing here.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from itsdangerous import BadSignature, URLSafeTimedSerializer
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from sqlalchemy import select
from sqlalchemy.orm import Session as Database

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Office
from basanite.campaign.people.names import free_name
from basanite.campaign.people.persons import Newcomer, add_person, by_mail
from basanite.campaign.settings import Provider
from basanite.campaign.store import events
from basanite.campaign.store.tables import Account, Identity
from basanite.server.accounts import github

ROUND_SECONDS = 600
PATIENCE = 10.0
LARGEST_ANSWER = 256 * 1024
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
"""Signatures with a key pair alone: `none`, and secrets that we share, prove nothing."""
SCOPES = ("openid", "email", "profile")
LEEWAY = 60
"""Seconds that two clocks may differ."""


@dataclass(frozen=True)
class Round:
    """One trip to a provider and back."""

    provider: str
    state: str
    nonce: str
    verifier: str
    then: str


@dataclass(frozen=True)
class Foreign:
    """Who somebody is at a provider."""

    issuer: str
    subject: str
    name: str = ""
    mail: str = ""
    mail_verified: bool = False


def provider_named(office: Office, name: str) -> Provider:
    """A provider that the settings name; there are no others."""
    found = next((one for one in office.settings.accounts.providers if one.id == name), None)
    if found is None:
        raise refused("X-11", "there is no such provider", "sign in with a password", status=404)
    return found


def begin(office: Office, provider: Provider, then: str) -> tuple[str, Round]:
    """Where to send the browser, and what to remember meanwhile."""
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    trip = Round(provider.id, state, nonce, verifier, then)
    with _client(office, provider) as client:
        metadata = _metadata(client, provider)
        client.scope = _scope(provider, metadata)
        asked = {"state": trip.state, "code_verifier": trip.verifier}
        asked |= {"nonce": trip.nonce} if provider.kind == "oidc" else {}
        address, _ = client.create_authorization_url(metadata["authorization_endpoint"], **asked)
    return str(address), trip


def finish(office: Office, provider: Provider, trip: Round | None, answer: Mapping[str, str]) -> Foreign:
    """Who came back: the state is this browser's, the code is good, and the token is signed for us and this trip."""
    if trip is None or trip.provider != provider.id or not hmac.compare_digest(trip.state, answer.get("state", "")):
        raise _not_proven("the response does not belong to a sign-in from this browser")
    if not answer.get("code"):
        raise _not_proven("the provider did not authorize you")
    try:
        return _exchange_code(office, provider, trip, answer["code"])
    except (AuthlibBaseError, JoseError, httpx2.HTTPError, KeyError, TypeError, ValueError) as error:
        raise _not_proven("the provider's response does not prove your identity") from error


def find(database: Database, foreign: Foreign) -> str | None:
    """The person who is this identity."""
    query = select(Identity.person_id).where(Identity.issuer == foreign.issuer, Identity.subject == foreign.subject)
    return database.scalar(query)


def make_account(database: Database, office: Office, foreign: Foreign) -> str:
    """An account for somebody who comes for the first time; never one that already exists, whatever the address."""
    if not office.settings.accounts.sign_up:
        raise refused("X-11", "accounts here are by invitation only", "ask the organizers to invite you", status=403)
    if not foreign.mail or not foreign.mail_verified:
        raise refused(
            "X-11", "the provider has no verified email address", "sign up with a password, then connect", status=403
        )
    if by_mail(database, office, foreign.mail) is not None:
        fix = "sign in with your password and connect the provider on your account's page"
        raise refused("X-11", "there is already an account with this email address", fix, status=409)
    name = free_name(database, office, foreign.name, foreign.mail.partition("@")[0])
    person = add_person(database, office, Newcomer(name=name, mail=foreign.mail))
    database.get_one(Account, person.id).confirmed = office.clock()
    join(database, office, person.id, foreign)
    return person.id


def join(database: Database, office: Office, person: str, foreign: Foreign) -> None:
    """From now on this identity is this person; one that is somebody else's already is refused."""
    holder = find(database, foreign)
    if holder == person:
        return
    if holder is not None:
        raise refused("X-11", "this identity belongs to another account", "sign in with it instead", status=409)
    now = office.clock()
    database.add(Identity(issuer=foreign.issuer, subject=foreign.subject, person_id=person, made=now))
    data = {"issuer": foreign.issuer}
    events.record(database, "identity.joined", at=now, actor=person, subject=person, data=data)


def cookie_value(office: Office, value: Round | Foreign) -> str:
    """What a cookie holds of a trip or of an identity that waits to be connected."""
    return _serializer(office, type(value).__name__).dumps(asdict(value))


def trip_of(office: Office, cookie: str | None) -> Round | None:
    """The trip that this browser is on."""
    read = _read_cookie(office, "Round", cookie)
    return Round(**read) if read else None


def waiting_identity(office: Office, cookie: str | None) -> Foreign | None:
    """The identity that waits for the password of the person who is signed in."""
    read = _read_cookie(office, "Foreign", cookie)
    return Foreign(**read) if read else None


def _exchange_code(office: Office, provider: Provider, trip: Round, code: str) -> Foreign:
    with _client(office, provider) as client:
        metadata = _metadata(client, provider)
        client.token_endpoint_auth_method = _way_to_prove_us(provider, metadata)
        headers = {"Accept": "application/json"}
        token = client.fetch_token(metadata["token_endpoint"], code=code, code_verifier=trip.verifier, headers=headers)
        if provider.kind == "github":
            claims = github.claims(client, provider, token, _json)
        else:
            keys = KeySet.import_key_set(_json(client, metadata["jwks_uri"]))
            claims = _claims(office, provider, token, keys, trip.nonce)
    name, mail = str(claims.get("name") or "")[:200], str(claims.get("email") or "")
    return Foreign(provider.issuer, str(claims["sub"]), name, mail, claims.get("email_verified") is True)


def _claims(
    office: Office, provider: Provider, token: Mapping[str, Any], keys: KeySet, nonce: str
) -> Mapping[str, Any]:
    read = jwt.decode(token["id_token"], keys, algorithms=ALGORITHMS)
    wanted = {
        "iss": {"essential": True, "values": [provider.issuer]},
        "aud": {"essential": True, "value": provider.client},
        "nonce": {"essential": True, "value": nonce},
        "sub": {"essential": True},
    }
    params = {"nonce": nonce, "client_id": provider.client, "access_token": token.get("access_token")}
    claims = CodeIDToken(read.claims, read.header, wanted, params)
    claims.validate(now=int(office.clock().timestamp()), leeway=LEEWAY)
    if not claims.get("sub"):
        raise ValueError("a token about nobody")
    return dict(claims)


def _client(office: Office, provider: Provider) -> OAuth2Client:
    return OAuth2Client(
        provider.client,
        provider.secret or None,
        redirect_uri=f"{office.address}/oidc/{provider.id}/return",
        code_challenge_method="S256",
        timeout=PATIENCE,
        follow_redirects=False,
    )


def _scope(provider: Provider, metadata: Mapping[str, Any]) -> str:
    """What we ask to be told: of the three scopes those that the provider has, for some refuse a call for others."""
    if provider.kind == "github":
        return github.SCOPE
    known = metadata.get("scopes_supported") or SCOPES
    return " ".join(scope for scope in SCOPES if scope == "openid" or scope in known)


def _way_to_prove_us(provider: Provider, metadata: Mapping[str, Any]) -> str:
    """How our secret is shown: in the header, unless the provider takes it in the form alone (ORCID, GitHub)."""
    if not provider.secret:
        return "none"
    known = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    in_form = "client_secret_basic" not in known and "client_secret_post" in known
    return "client_secret_post" if in_form or provider.kind == "github" else "client_secret_basic"


def _metadata(client: OAuth2Client, provider: Provider) -> Mapping[str, Any]:
    """What the provider says about itself; it must be the issuer that the settings name."""
    if provider.kind == "github":
        return github.endpoints(provider)
    read: Mapping[str, Any] = _json(client, f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration")
    if read.get("issuer") != provider.issuer:
        raise _not_proven("the provider uses another name")
    return read


def _json(client: OAuth2Client, address: str, headers: Mapping[str, str] | None = None) -> Any:
    try:
        answer = client.request("GET", address, withhold_token=True, headers=dict(headers or {}))
        answer.raise_for_status()
    except httpx2.HTTPError as error:
        raise refused("X-11", "the provider cannot be reached", "try again later", status=502) from error
    if len(answer.content) > LARGEST_ANSWER:
        raise _not_proven("the provider's response is too long")
    return answer.json()


def _not_proven(why: str) -> RefusedError:
    return refused("X-11", why, "start signing in again", status=401)


def _serializer(office: Office, kind: str) -> URLSafeTimedSerializer:
    key = office.vault.secret("cookies", "oidc")
    return URLSafeTimedSerializer(key, salt=kind, signer_kwargs={"digest_method": hashlib.sha256})


def _read_cookie(office: Office, kind: str, cookie: str | None) -> dict[str, Any] | None:
    try:
        read: dict[str, Any] = _serializer(office, kind).loads(cookie or "", max_age=ROUND_SECONDS)
    except BadSignature:
        return None
    return read
