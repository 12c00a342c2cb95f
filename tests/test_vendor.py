"""The vendored browser files are the ones listed, and each is accounted for."""

import hashlib
import re
from pathlib import Path

VENDOR = Path(__file__).parents[1] / "static" / "vendor"
OWN = {"SHA256SUMS", "README.md"}


def sums() -> dict[str, str]:
    lines = (VENDOR / "SHA256SUMS").read_text().splitlines()
    return {name.removeprefix("./"): digest for digest, name in (line.split() for line in lines)}


def vendored() -> list[Path]:
    files = (path for path in VENDOR.rglob("*") if path.is_file())
    return sorted(path for path in files if path.name not in OWN)


def test_every_file_is_listed_with_its_checksum() -> None:
    found = {
        path.relative_to(VENDOR).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in vendored()
    }
    assert found
    assert found == sums()


def test_every_package_has_its_license_and_a_row_in_the_readme() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| [\w.-]+ \| \d+\.\d+\.\d+ \|", readme(), re.MULTILINE)
    folders = {path.parent for path in vendored()}
    assert sorted(rows) == sorted(folder.name for folder in folders)
    assert all((folder / "LICENSE").is_file() for folder in folders)


def test_no_file_names_a_source_map() -> None:
    """Collecting static files under hashed names fails on a map that is missing."""
    named = [path.name for path in vendored() if b"sourceMappingURL=" in path.read_bytes()]
    assert named == []


def readme() -> str:
    return (VENDOR / "README.md").read_text()
