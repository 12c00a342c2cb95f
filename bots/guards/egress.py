"""Egress rule: the servers a bot may call, at which address, and with which key (S10).

The operator names servers in the environment, an administrator in the browser (`enter`).

A name is looked up once, every address it has is looked at, and the call goes to one of those: what
a name server says a moment later does not matter. Proxies named by the environment are not used and
redirects are not followed (`bots.guards.remote`).
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from bots.options import InvalidOption

PORTS = {"https": 443, "http": 80}
NAT64 = ipaddress.ip_network("64:ff9b::/96")  # may lead to a private address behind it
KEY = re.compile(r"BOT_KEY_[A-Z0-9_]+(?<!_HOSTS)")
HOST = re.compile(r"[a-z0-9_.-]+:\d{1,5}|\[[0-9a-f:.]+\]:\d{1,5}")

Lookup = Callable[..., Sequence[tuple[Any, ...]]]


class NotAllowed(InvalidOption):
    """A server that may not be called, or a key that may not be sent."""


@dataclass(frozen=True)
class Target:
    """A server that may be called: its name, for its certificate, and the addresses it has."""

    scheme: str
    host: str
    port: int
    addresses: tuple[str, ...]
    path: str

    @property
    def name(self) -> str:
        """The Host header: with the port, unless it is the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if PORTS[self.scheme] == self.port else f"{host}:{self.port}"

    def address(self, attempt: int) -> str:
        """Return the URL of one of the addresses, another one at each attempt."""
        address = self.addresses[attempt % len(self.addresses)]
        host = f"[{address}]" if ":" in address else address
        return f"{self.scheme}://{host}:{self.port}{self.path}"


@dataclass(frozen=True)
class Entered:
    """Servers, as host:port, and keys; those that are entered while the installation runs.

    keys: by name, the server that a key is for, and the key.
    """

    public: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()
    keys: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)


_entered = Entered()


def enter(entered: Entered) -> None:
    """Let these be called too, beside those of the environment, from now on in this process."""
    global _entered
    _entered = entered


def of_environment() -> Entered:
    """Return the servers that the environment names, without its keys."""
    public = _listed(os.environ.get("BOT_HOSTS", ""), 443)
    return Entered(public, _listed(os.environ.get("BOT_PRIVATE_HOSTS", ""), 80))


def hosts() -> frozenset[str]:
    """Return the public servers that may be called, each as host:port."""
    return of_environment().public | _entered.public


def private_hosts() -> frozenset[str]:
    """Return the servers that may be called even at private addresses, and without TLS."""
    return of_environment().private | _entered.private


def _listed(raw: str, port: int) -> frozenset[str]:
    entries = (entry.strip().lower() for entry in raw.split(","))
    return frozenset(
        entry if re.search(r":\d+$", entry) else f"{entry}:{port}" for entry in entries if entry
    )


def target(url: str, path: str, lookup: Lookup = socket.getaddrinfo) -> Target:
    """Look a server up, or refuse it with the reason; `path` is added to the URL's own.

    Raises NotAllowed, or ConnectionError if it cannot be looked up.
    """
    parts, port = _parts(url)
    host = (parts.hostname or "").lower()
    is_private = _allowed(url)
    addresses = _look_up(host, port, lookup)
    if not is_private:
        _only_public(host, addresses)
    elif f"{host}:{port}" in _entered.private:
        _never_link_local(host, addresses)
    return Target(parts.scheme, host, port, addresses, parts.path.rstrip("/") + path)


def server_of(url: str) -> str:
    """Return host:port of an address that may be called; nothing is looked up.

    Raises NotAllowed with the reason.
    """
    _allowed(url)
    parts, port = _parts(url)
    return f"{(parts.hostname or '').lower()}:{port}"


def _allowed(url: str) -> bool:
    """Refuse an address of no server that may be called; tell whether it may be a private one."""
    parts, port = _parts(url)
    server = f"{(parts.hostname or '').lower()}:{port}"
    is_private = server in private_hosts()
    if not is_private and server not in hosts():
        raise NotAllowed(
            f"url is {url!r}, but {server} is not among the servers that bots may call: an "
            "administrator has to add it under Model servers, or to name it in BOT_HOSTS"
        )
    if parts.scheme != "https" and not is_private:
        raise NotAllowed(
            f"url is {url!r}, but must begin with https://, unless its server is allowed as one of "
            "ours: under Model servers, or in BOT_PRIVATE_HOSTS"
        )
    return is_private


def _parts(url: str) -> tuple[SplitResult, int]:
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise NotAllowed(f"url is {url!r}, which is no address ({error})") from error
    usable = parts.scheme in PORTS and parts.hostname and not re.search(r"[\x00-\x20\x7f]", url)
    if not usable or parts.query or parts.fragment or parts.username or parts.password:
        raise NotAllowed(
            f"url is {url!r}, but must be like https://api.example.org/v1, without a user, a "
            "password or a query"
        )
    return parts, port


def _look_up(host: str, port: int, lookup: Lookup) -> tuple[str, ...]:
    try:
        found = lookup(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConnectionError(f"{host} cannot be looked up") from error
    return tuple(dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found))


def _only_public(host: str, addresses: Sequence[str]) -> None:
    for raw in addresses:
        if not _is_public(ipaddress.ip_address(raw)):
            raise NotAllowed(
                f"{host} has the address {raw}, which is not public: if it is a server of yours, "
                "an administrator has to allow it as one of ours under Model servers, or to name "
                "it in BOT_PRIVATE_HOSTS"
            )


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    inner = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    public = all(one.is_global and not one.is_multicast for one in (address, inner or address))
    return public and address not in NAT64


def is_private_by_name(host: str) -> bool:
    """Tell whether a host is not public whatever is looked up: a private address, or localhost."""
    try:
        return not _is_public(ipaddress.ip_address(host))
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _never_link_local(host: str, addresses: Sequence[str]) -> None:
    """Refuse addresses at which clouds answer with secrets of the machine."""
    for raw in addresses:
        address = ipaddress.ip_address(raw)
        inner = getattr(address, "ipv4_mapped", None) or address
        if inner.is_link_local or inner.is_unspecified or inner.is_multicast:
            raise NotAllowed(f"{host} has the address {raw}, which no model server has")


def key(name: str, server: str) -> str:
    """Return the key of this name for a server, as host:port; "" where none is named.

    A name is that of a key that an administrator entered, or of an environment variable that
    begins with BOT_KEY_; the servers of BOT_KEY_LAB are listed in BOT_KEY_LAB_HOSTS.

    Raises NotAllowed if there is no such key, or if it is for another server.
    """
    if not name:
        return ""
    found, servers = _entered_key(name) if name in _entered.keys else _variable(name)
    if server not in servers:
        listed = ", ".join(sorted(servers)) or "no server"
        raise NotAllowed(f"the key {name} is for {listed}, and is not sent to {server}")
    return found


def _entered_key(name: str) -> tuple[str, frozenset[str]]:
    server, found = _entered.keys[name]
    if not found:
        raise NotAllowed(f"the key {name} cannot be read any more: it has to be entered anew")
    return found, frozenset([server])


def _variable(name: str) -> tuple[str, frozenset[str]]:
    if not KEY.fullmatch(name):
        raise NotAllowed(
            f"key_variable is {name!r}, but must be the name of a key under Model servers, or of "
            "an environment variable that begins with BOT_KEY_, such as BOT_KEY_LAB"
        )
    found = os.environ.get(name, "").strip()
    if not found:
        raise NotAllowed(f"the environment variable {name} is not set where this bot runs")
    return found, _listed(os.environ.get(f"{name}_HOSTS", ""), 443)
