"""The bill of materials has every locked package, and is what CycloneDX says it must be (S19)."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

SCRIPT = Path(__file__).parents[1] / "script"
KINDS = {
    "web": ["web"],
    "worker": ["worker", "torch"],
    "development": ["development", "torch", "oracles"],
}


def sbom(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT / "sbom"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def flat(components: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for one in components for each in (one, *one.get("components", []))]


@pytest.mark.parametrize("kind", KINDS)
def test_every_locked_package_is_in_it_with_its_version_and_all_hashes(kind: str) -> None:
    text = sbom(kind).stdout
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert sbom(kind).stdout == text, "the same locks, the same bytes"
    components = json.loads(text)["components"]
    found = {
        (each["name"], each["version"]): [one["content"] for one in each.get("hashes", [])]
        for each in components
        if each["purl"].startswith("pkg:pypi/")
    }
    wanted: dict[tuple[str, str], list[str]] = {}
    for lock in KINDS[kind]:
        for block in re.split(r"\n(?=[^\s#])", (SCRIPT / f"{lock}.lock").read_text()):
            pins = [line for line in block.splitlines() if line[:1].isalnum()]
            for pin in pins:
                name, _, version = pin.split()[0].partition("==")
                wanted[name, version] = re.findall(r"sha256:(\w+)", block)
    assert found == wanted
    unhashed = {name for (name, _), hashes in found.items() if not hashes}
    assert unhashed <= {"torch"} | oracles(), "as script/bootstrap installs them"
    assert len({each["bom-ref"] for each in components}) == len(components)


def oracles() -> set[str]:
    """Tests alone install these, by their versions."""
    lines = (SCRIPT / "oracles.lock").read_text().splitlines()
    return {line.partition("==")[0] for line in lines if line[:1].isalnum()}


def test_the_files_that_browsers_get_are_in_it() -> None:
    vendor = SCRIPT.parent / "static" / "vendor"
    listed = {
        line.split()[1].removeprefix("./"): line.split()[0]
        for line in (vendor / "SHA256SUMS").read_text().splitlines()
    }
    files = [
        each for each in flat(json.loads(sbom().stdout)["components"]) if each["type"] == "file"
    ]
    assert {each["name"]: each["hashes"][0]["content"] for each in files} == listed


def test_another_kind_is_refused_by_name() -> None:
    refused = sbom("laptop")
    assert refused.returncode == 2
    assert "laptop: must be one of web, worker, development" in refused.stderr


def test_no_list_for_the_advisory_service_names_a_package_twice_and_none_is_left_out() -> None:
    """Locks may pin one package at two versions, and pip-audit refuses a list that has both."""
    asked = runpy.run_path(str(SCRIPT / "audit"))["lists"]()
    for pins in asked:
        names = [pin.split("==")[0] for pin in pins]
        assert len(names) == len(set(names)), "pip-audit would look nothing up"
    pinned = {
        line.split()[0]
        for lock in SCRIPT.glob("*.lock")
        for line in lock.read_text().splitlines()
        if line[:1].isalnum()
    }
    assert len(pinned) > 100
    assert sorted(pin for pins in asked for pin in pins) == sorted(pinned)
