"""Checks a file of receipts without its server: python docs/protocol/check_receipts.py FILE KEY

FILE is what GET /c/<slug>/receipt hands out, KEY the server's public key, from its page
/receipts/key, kept from the time of the study. Needs Python and `cryptography`. Exits 1 where the
holder of the key did not sign these lines.
"""

import base64
import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def check(text: str, key: str) -> str:
    """Return what the file is; raises ValueError or InvalidSignature where it is not valid."""
    *receipts, last = text.splitlines() or [""]
    if last.count(".") != 3:
        raise ValueError("the last line is not PF1.TIME.DIGEST.SIGNATURE")
    version, at, digest, signature = last.split(".")
    if (
        version != "PF1"
        or digest != sha256("".join(f"{r}\n" for r in receipts).encode()).hexdigest()
    ):
        raise ValueError("the last line is of other lines")
    known = Ed25519PublicKey.from_public_bytes(decoded(key))
    known.verify(decoded(signature), f"{version}.{at}.{digest}".encode())
    return f"valid: {len(receipts)} receipts, signed {datetime.fromtimestamp(int(at), UTC)}"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        print(check(Path(sys.argv[1]).read_text(), sys.argv[2]))
    except InvalidSignature:
        sys.exit("not valid: the holder of this key did not sign these lines")
    except ValueError as problem:
        sys.exit(f"not valid: {problem}")
