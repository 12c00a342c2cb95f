"""Which servers may be called: named ones at public addresses, and nothing else (S10)."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from bots.guards import egress

PUBLIC = "93.184.216.34"


@pytest.fixture(autouse=True)
def _named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_HOSTS", "api.example.org, Other.example.org:8443")
    monkeypatch.setenv("BOT_PRIVATE_HOSTS", "gpu.lab:8000,127.0.0.1:9")


def answering(*addresses: str) -> egress.Lookup:
    """Return a name server that knows these addresses."""

    def lookup(host: str, port: int, **_: object) -> Sequence[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    return lookup


def test_a_named_server_is_called_at_the_address_that_was_looked_at() -> None:
    found = egress.target("https://API.example.org/v1/", "/chat", answering(PUBLIC, "2606:4700::1"))
    assert (found.name, found.host) == ("api.example.org", "api.example.org")
    assert found.address(0) == f"https://{PUBLIC}:443/v1/chat"
    assert found.address(1) == "https://[2606:4700::1]:443/v1/chat"
    other = egress.target("https://other.example.org:8443", "/chat", answering(PUBLIC))
    assert other.name == "other.example.org:8443"


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example.org/v1",
        "https://api.example.org:8443/v1",
        "https://api.example.org.evil.org/v1",
        "https://evil.org/api.example.org",
    ],
)
def test_others_are_refused_before_they_are_looked_up(url: str) -> None:
    def lookup(*_: object, **__: object) -> Sequence[tuple[Any, ...]]:
        raise AssertionError("looked up")

    with pytest.raises(egress.NotAllowed, match="to name it in BOT_HOSTS"):
        egress.target(url, "/chat", lookup)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://api.example.org/",
        "api.example.org",
        "https://me@api.example.org/",
        "https://me:word@api.example.org/",
        "https://api.example.org/?a=b",
        "https://api.example.org/#a",
        "https://api.example.org:port/",
        "https://[::1/",
        "https://api.example.org/\r\nX: y",
        "file:///etc/passwd",
        "",
    ],
)
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(egress.NotAllowed, match="url is "):
        egress.target(url, "/chat", answering(PUBLIC))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",  # noqa: S104
        "224.0.0.1",
        "::1",
        "fd00::1",
        "fe80::1%eth0",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
    ],
)
def test_a_public_name_with_a_private_address_is_refused(address: str) -> None:
    """A name server may not lead a bot into the network of the platform, not even by turns."""
    for addresses in ([address], [PUBLIC, address]):
        with pytest.raises(egress.NotAllowed, match="which is not public"):
            egress.target("https://api.example.org/v1", "/chat", answering(*addresses))


def test_servers_of_ones_own_may_be_private_and_plain() -> None:
    found = egress.target("http://gpu.lab:8000/v1", "/chat", answering("10.0.0.7"))
    assert found.address(0) == "http://10.0.0.7:8000/v1/chat"
    with pytest.raises(egress.NotAllowed, match="must begin with https://"):
        egress.target("http://api.example.org:443/v1", "/chat", answering(PUBLIC))


def test_a_name_that_is_not_known_is_trouble_and_not_a_refusal() -> None:
    def lookup(*_: object, **__: object) -> Sequence[tuple[Any, ...]]:
        raise socket.gaierror("no")

    with pytest.raises(ConnectionError, match=r"api\.example\.org cannot be looked up"):
        egress.target("https://api.example.org/v1", "/chat", lookup)


@pytest.mark.parametrize("variable", ["SECRET_KEY", "DATABASE_URL", "bot_key_a", "BOT_KEY_A B"])
def test_only_a_bots_key_can_be_sent(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "the site's")
    with pytest.raises(egress.NotAllowed, match="begins with BOT_KEY_"):
        egress.key(variable, "api.example.org:443")


def test_a_key_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY_LAB", "  k-1\n")
    monkeypatch.setenv("BOT_KEY_LAB_HOSTS", "api.example.org, gpu.lab:8000")
    assert egress.key("BOT_KEY_LAB", "api.example.org:443") == "k-1"
    assert egress.key("BOT_KEY_LAB", "gpu.lab:8000") == "k-1"
    assert egress.key("", "api.example.org:443") == ""
    with pytest.raises(egress.NotAllowed, match="BOT_KEY_NONE is not set"):
        egress.key("BOT_KEY_NONE", "api.example.org:443")
    with pytest.raises(
        egress.NotAllowed, match=r"is for api\.example\.org:443, gpu\.lab:8000, and is"
    ):
        egress.key("BOT_KEY_LAB", "gpu.lab:8001")
    monkeypatch.delenv("BOT_KEY_LAB_HOSTS")
    with pytest.raises(egress.NotAllowed, match="is for no server"):
        egress.key("BOT_KEY_LAB", "api.example.org:443")


@pytest.fixture
def entered() -> Iterator[None]:
    keys = {"lab": ("model.lab:8000", "k-2"), "lost": ("model.lab:8000", "")}
    listed = frozenset(["api.other.org:443"]), frozenset(["model.lab:8000"])
    egress.enter(egress.Entered(*listed, keys))
    yield
    egress.enter(egress.Entered())


@pytest.mark.usefixtures("entered")
def test_what_was_entered_is_allowed_beside_the_environment() -> None:
    assert egress.target("https://api.other.org/v1", "/chat", answering(PUBLIC)).port == 443
    assert egress.target("http://model.lab:8000/v1", "/chat", answering("10.0.0.7")).port == 8000
    assert egress.key("lab", egress.server_of("http://model.lab:8000/v1")) == "k-2"
    with pytest.raises(
        egress.NotAllowed, match=r"lab is for model\.lab:8000, and is not sent to api"
    ):
        egress.key("lab", "api.other.org:443")
    with pytest.raises(egress.NotAllowed, match="entered anew"):
        egress.key("lost", "model.lab:8000")
    assert "k-2" not in repr(egress._entered)


@pytest.mark.usefixtures("entered")
@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1", "::", "::ffff:169.254.1.1"])
def test_an_entered_server_is_never_a_machines_own_service(address: str) -> None:
    with pytest.raises(egress.NotAllowed, match="which no model server has"):
        egress.target("http://model.lab:8000/v1", "/chat", answering(address))
    with pytest.raises(egress.NotAllowed, match="which is not public"):
        egress.target("https://api.other.org/v1", "/chat", answering("10.0.0.7"))
