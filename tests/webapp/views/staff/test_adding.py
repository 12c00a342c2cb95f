"""The staff page of docs/adding.md, pasted where the page says, is found, linked to and guarded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import newcomer

SECTION = "A staff page"
ACCESS = "tests/webapp/views/staff/test_access.py"
VIEW = "webapp/views/staff/quiet.py"


def files() -> list[str]:
    return list(newcomer.blocks(SECTION))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone with the page's four files, and with nothing else changed."""
    folder = tmp_path_factory.mktemp("clone")
    newcomer.clone(folder)
    newcomer.paste(SECTION, folder)
    return folder


def test_a_service_a_view_a_template_and_a_test_are_enough() -> None:
    folders = [Path(path).parent.as_posix() for path in files()]
    assert folders == [
        "webapp/services/monitoring",
        "webapp/views/staff",
        "templates/staff",
        "tests/webapp/views/staff",
    ]


@pytest.mark.timeout(400)
def test_it_passes_the_tests_of_access_and_of_the_house(clone: Path) -> None:
    assert newcomer.passed(clone, ACCESS, "tests/test_house.py", files()[-1]) > 30


@pytest.mark.timeout(400)
def test_without_its_decorator_it_is_noticed(clone: Path) -> None:
    view = clone / VIEW
    code = view.read_text(encoding="utf-8")
    decorator = next(line for line in code.splitlines() if line.startswith("@campaign_page"))
    view.write_text(code.replace(f"{decorator}\n", ""), encoding="utf-8")
    with pytest.raises(AssertionError, match=r"campaigns/<int:pk>/quiet/"):
        newcomer.passed(clone, ACCESS, "-k", "every_view_says")
