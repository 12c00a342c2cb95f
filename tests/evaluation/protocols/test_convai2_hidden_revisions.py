"""CA-P4, second phase: the two printed pairs keep the rule that writers are given."""

from __future__ import annotations

from evaluation.registry import get_protocol


def test_the_printed_pairs_pass_and_a_copied_word_does_not() -> None:
    write = get_protocol("convai2_hidden_revisions").write
    assert write is not None
    for example in write.examples:
        text = str(example.text).removesuffix(".")
        complaints = [check(text, (str(example.original),)) for check in write.checks]
        assert complaints == [None, None]
    assert any(check("My nails look good", ("I just got my nails done",)) for check in write.checks)
