"""No secret is in the repository: known shapes of keys, and random strings that are named so (G13).

A scan of the files as they are, not of their history. What is named in `EXAMPLES` opens nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.test_repository import ROOT, files

SHAPES = {
    "private key": re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
    "AWS": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "GitHub": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60,})\b"),
    "GitLab": re.compile(r"\bglpat-[\w-]{20}\b"),
    "Slack": re.compile(r"\bxox[abposr]-[\w-]{10,}"),
    "Google": re.compile(r"\bAIza[\w-]{35}\b"),
    "model server": re.compile(r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}"),
    "Hugging Face": re.compile(r"\bhf_[A-Za-z]{34}\b"),
    "Telegram": re.compile(r"\b\d{8,10}:AA[\w-]{33}\b"),
    "JWT": re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    "password in an address": re.compile(r"\b[a-z+]+://[^\s/:@'\"{}<>]+:([^\s/@'\"{}<>$]{6,})@"),
}
NAMED = re.compile(
    r"(?i)\b\w*(?:secret|token|passw(?:or)?d|api_?key|private_?key)\w*[\"']?\s*[:=]\s*"
    r"[rbf]?[\"']([A-Za-z0-9+/=_-]{20,})[\"']"
)
RANDOM = 4.0  # bits a character: 20 characters of hex or base64 have more, words have less
EXAMPLES = {
    "postgres://parley:PASSWORD@": "what a deployer replaces",
    "postgres://parley_replies:PASSWORD@": "what a deployer replaces",
    "postgres://user:password@": "how an address is written",
    "smtp+tls://user:password@": "how an address is written",
    "sk-very-secret-0123456789": "a test's, which no server knows",
}


def entropy(text: str) -> float:
    """Return the bits of a character, by how often each comes (Shannon 1948)."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)


def found_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield what looks like a secret: its kind, and the string."""
    for kind, shape in SHAPES.items():
        yield from ((kind, match[0]) for match in shape.finditer(text))
    for match in NAMED.finditer(text):
        if entropy(match[1]) > RANDOM:
            yield "random", match[1]


def scanned() -> Iterator[tuple[str, str]]:
    for name in files():
        if not name.endswith((".lock", ".woff2", ".png", ".webp", ".gz", ".parquet", ".mo")):
            yield name, (ROOT / name).read_text(encoding="utf-8", errors="replace")


def test_nothing_in_the_repository_looks_like_a_secret() -> None:
    """Every exception is there, or it is none any more."""
    found = {
        f"{name}: {kind}: {text[:60]}"
        for name, content in scanned()
        for kind, text in found_in(content)
        if text not in EXAMPLES
    }
    assert sorted(found) == []
    every = "\n".join(content for name, content in scanned() if name != "tests/test_secrets.py")
    assert [text for text in EXAMPLES if text not in every] == []


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "sk-" + "proj-0a1B2c3D4e5F6g7H8i9J0k",
        "postgres" + "://parley:hunter2hunter2@db/parley",
        'PROLIFIC_TOKEN = "' + "q8Zr1Xw0Lk5Vb7Nn3Tt9Ya2Cc4" + '"',
    ],
)
def test_what_is_one_is_found(text: str) -> None:
    assert list(found_in(text))
