"""What foreign tables get: `python -m tests.foreign_tables`.

Each table is written and read as the analysis reads it; a row has what became of it, and the
sentence by which it is told. Exits 1 where one gets something else. Last, a file of four columns
becomes a PDF by one command.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.foreign_tables import TABLES
from tests.foreign_tables.made import GOOD
from tests.foreign_tables.outcomes import outcome


def main() -> int:
    """Print the table; return 1 where a row is not as it should be."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for about, name, content, ends, sentence in TABLES:
            path = Path(folder) / name
            path.write_bytes(content)
            found, told = outcome(path)
            good = found == ends and sentence in told
            wrong += not good
            print(f"{about:32} {found:8} {'' if good else 'WRONG: '}{sentence}")
        print(f"{len(TABLES)} tables, {wrong} not as they should be.\n")
        return max(wrong > 0, _to_pdf(Path(folder)))


def _to_pdf(folder: Path) -> int:
    (folder / "four.csv").write_text(GOOD)
    command = ["-m", "analysis", str(folder / "four.csv"), "--pdf", str(folder / "four.pdf")]
    run = subprocess.run([sys.executable, *command], check=False, capture_output=True, text=True)
    made = folder / "four.pdf"
    size = made.stat().st_size if made.exists() else 0
    print(f"python -m analysis four.csv --pdf four.pdf: exit {run.returncode}, {size:,} bytes")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
