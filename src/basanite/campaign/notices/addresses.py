"""Which addresses a server may call for somebody else: public ones, checked once and then held to (X-10)."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

Resolver = Callable[[str, int], list[str]]
LONGEST = 2000
EMBEDDING = tuple(
    ip_network(net) for net in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96", "fec0::/10")
)
"""IPv6 addresses that carry an IPv4 address on to somewhere (NAT64, 6to4, Teredo, compatible), and old local ones."""


class RefusedAddressError(Exception):
    """An address that may not be called; the message says why without saying where it led."""


def system_resolver(host: str, port: int) -> list[str]:
    """The addresses of a name, as this machine finds them."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def is_public(text: str) -> bool:
    """Whether an address is one that everybody in the world can reach.

    >>> [is_public(text) for text in ("93.184.216.34", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "0.0.0.0")]
    [True, False, False, False, False]
    """
    address = _address(text)
    if address is None or address.is_multicast or address.is_reserved or not address.is_global:
        return False
    return isinstance(address, IPv4Address) or not any(address in net for net in EMBEDDING)


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


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
