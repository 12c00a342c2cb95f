"""MEENA's filter: a test for each rule."""

from __future__ import annotations

import pytest

from bots.guards.message_filter import ANCESTOR, ForumMessage, Rules, filtered, pairs, unquoted

ROOT = ForumMessage("r", None, "ann", "What do you all grow in your garden?")
GOOD = "We have tall tomatoes and a few beans."


def why(text: str, author: str = "bob", flagged: bool = False, rules: Rules | None = None) -> str:
    """Return why a message under the root is dropped; nothing if it is kept."""
    found = filtered([ROOT, ForumMessage("m", "r", author, text, flagged)], rules)
    assert "r" in found.kept
    return found.dropped.get("m", "")


def test_a_good_message_is_kept() -> None:
    assert why(GOOD) == ""


def test_rule_1_length_in_subwords() -> None:
    assert why("Tomatoes") == "1 subwords"
    assert why("Tomatoes mostly") == ""
    assert why("bean " * 128) == ""
    assert why("bean " * 129) == "129 subwords"
    assert why("Tomatoes", rules=Rules(subwords=list)) == "", "a model's own pieces may be counted"


def test_rule_2_letters() -> None:
    assert why("12 kg + 30 kg = 42 kg!!! :-)") == "too few letters"
    assert why("abcdefg 123") == "", "seven of ten"
    assert why("abcdef 1234") == "too few letters"


def test_rule_3_addresses() -> None:
    assert why("see https://x.y/beans for more") == "a URL"
    assert why("look at www.beans.example now") == "a URL"
    assert why("it's on garden.com") == "a URL"


def test_rule_4_bots() -> None:
    assert why(GOOD, author="AutoBot9") == "the author's name contains bot"


def test_rule_5_repeated_often() -> None:
    same = [ForumMessage(f"m{k}", "r", "bob", "Nice garden there!") for k in range(101)]
    assert filtered([ROOT, *same]).dropped["m0"] == "said 101 times"
    assert not filtered([ROOT, *same[:100]]).dropped


def test_rule_6_too_much_like_the_parent() -> None:
    assert why("what do you all grow in your garden") == "too much like its parent"
    assert why("What do you all want to hear about it, my friends?") == ""


def test_rule_7_unsafe() -> None:
    assert why(GOOD, flagged=True) == "unsafe"
    assert why("you are a stupid idiot") == "unsafe"


def test_a_dropped_message_drops_its_subtree() -> None:
    found = filtered(
        [
            ROOT,
            ForumMessage("a", "r", "carbot", GOOD),
            ForumMessage("b", "a", "bob", "How tall are they now?"),
            ForumMessage("c", "b", "ann", "Taller than my brother is."),
            ForumMessage("d", "r", "eve", "Only weeds and some old boots."),
        ]
    )
    assert list(found.kept) == ["r", "d"]
    assert found.dropped == {"a": "the author's name contains bot", "b": ANCESTOR, "c": ANCESTOR}


def test_copies_of_the_parent_are_taken_out() -> None:
    parent = "What do you all grow in your garden?"
    assert unquoted(f"> {parent}\nOnly weeds.", parent) == "Only weeds."
    assert unquoted(f"{parent} Only weeds.", parent) == "Only weeds."
    assert unquoted("> something else\nOnly weeds.", parent) == "> something else Only weeds."
    assert unquoted(parent, parent) == parent, "a mere copy is left to rule 6"
    assert unquoted("Hi there", "Hi") == "Hi there", "too short to be a quote"
    kept = filtered([ROOT, ForumMessage("m", "r", "bob", f"> {ROOT.text}\n{GOOD}")]).kept
    assert kept["m"].text == GOOD


def test_pairs_have_up_to_seven_messages_before() -> None:
    chain = [ROOT]
    for k, animal in enumerate(["cat", "dog", "owl", "fox", "hen", "pig", "cow", "elk", "bee"]):
        text = f"The {animal} of a {animal} farmer likes {animal} food."
        chain.append(ForumMessage(f"m{k}", chain[-1].id, "ab"[k % 2], text))
    found = list(pairs(filtered(chain).kept))
    assert [len(pair.context) for pair in found] == [1, 2, 3, 4, 5, 6, 7, 7, 7]
    assert found[-1].response.id == "m8"
    assert [message.id for message in found[-1].context] == [f"m{k}" for k in range(1, 8)]


@pytest.mark.parametrize("texts", [[], ["only a root message here"]])
def test_roots_alone_are_no_pairs(texts: list[str]) -> None:
    roots = [ForumMessage(str(k), None, "ann", text) for k, text in enumerate(texts)]
    assert list(pairs(filtered(roots).kept)) == []
