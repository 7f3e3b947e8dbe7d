"""Which addresses a server may call for somebody else: public ones, checked once and then held to (X-10)."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

Resolver = Callable[[str, int], list[str]]
LONGEST = 2000
UNICAST = ip_network("2000::/3")
"""All IPv6 addresses that are given out to be reached from everywhere lie here."""
SPECIAL = tuple(
    map(
        ip_network,
        (
            "192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24",
            "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
        ),
    )
)  # fmt: skip
"""Ranges of IANA's special-purpose registries that Python's `is_global` lets through in one version or another:
protocol assignments and relays (Teredo, ORCHID, 6to4, AMT), servers for private names (AS112), documentation."""


class RefusedAddressError(Exception):
    """An address that may not be called; the message says why without saying where it led."""


def system_resolver(host: str, port: int) -> list[str]:
    """The addresses of a name, as this machine finds them."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def is_public(text: str) -> bool:
    """Whether an address is one that everybody in the world can reach.

    >>> [is_public(text) for text in ("93.184.216.34", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "3fff::1")]
    [True, False, False, False, False]
    """
    address = _address(text)
    if address is None or address.is_multicast or address.is_reserved or not address.is_global:
        return False
    if isinstance(address, IPv6Address) and address not in UNICAST:
        return False
    return not any(address in net for net in SPECIAL)


def is_loopback(text: str) -> bool:
    """Whether an address is this machine itself."""
    address = _address(text)
    return address is not None and address.is_loopback


def checked_url(url: str, *, loopback: bool = False) -> SplitResult:
    """The parts of a webhook's address, or a refusal: https, a host, nothing hidden in it."""
    if len(url) > LONGEST or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise RefusedAddressError("the address is too long or holds odd characters")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise RefusedAddressError("this is no address") from error
    if parts.scheme != "https" and not (loopback and parts.scheme == "http"):
        raise RefusedAddressError("only https is called")
    if not parts.hostname or "@" in parts.netloc or parts.fragment:
        raise RefusedAddressError("write https://host/path, without a name, password or #")
    written = _written_address(parts.hostname)
    if written and not (is_public(written) or (loopback and is_loopback(written))):
        raise RefusedAddressError("the address is not public")
    return parts


def chosen_address(host: str, port: int, resolve: Resolver, *, loopback: bool = False) -> str:
    """The one address that will be called. The name is resolved this once; one bad answer spoils them all."""
    found = resolve(host, port)
    if not found:
        raise RefusedAddressError("the name has no address")
    for text in found:
        if not (is_public(text) or (loopback and is_loopback(text))):
            raise RefusedAddressError("the name leads to an address that is not public")
    return found[0]


def _written_address(host: str) -> str | None:
    """The address that a host is written as, in any of the ways a system understands; None for a name to be resolved.

    >>> [_written_address(host) for host in ("[::1]".strip("[]"), "2130706433", "0x7f.1", "localhost", "example.org")]
    ['::1', '127.0.0.1', '127.0.0.1', '127.0.0.1', None]
    """
    if host.rstrip(".").lower() == "localhost" or host.rstrip(".").lower().endswith(".localhost"):
        return "127.0.0.1"
    if _address(host) is not None:
        return host
    try:
        return socket.inet_ntoa(socket.inet_aton(host))  # 2130706433, 0x7f.1 and the like
    except OSError:
        return None


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
