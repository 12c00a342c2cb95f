"""Is a server what docs/protocol.md says? Does the reference client get through every protocol?

python -m tests.conformance [URL ...]               each rule, on campaigns by their links
python -m tests.conformance --protocols [NAME ...]  the client, in a campaign of each protocol

A link is http://host/c/slug/, with places for some fifty participations; without one a server is
started. A rule that no campaign has the means for (labels, two people, ...) is not tried.
"""

from __future__ import annotations

import sys

from tests.conformance import protocols, suite

if __name__ == "__main__":
    if sys.argv[1:2] == ["--protocols"]:
        sys.exit(protocols.main(sys.argv[2:]))
    sys.exit(suite.main(sys.argv[1:]))
