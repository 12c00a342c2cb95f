"""What the browser is asked to draw."""

from __future__ import annotations

import pytest

from webapp.services.results import charts


@pytest.mark.parametrize(("last", "whole"), [(4.0, True), (4.5, False)])
def test_between_whole_numbers_such_as_turns_there_are_no_steps(last: float, whole: bool) -> None:
    rows = [{"series": "a", "name": "", "x": x, "y": 0.5, "joined": True} for x in (1.0, 2.0, last)]
    drawn = charts.plane(rows, axis="turn", upright="share")["encoding"]["x"]["axis"]
    assert (drawn.get("tickMinStep"), drawn.get("format")) == ((1, "d") if whole else (None, None))
