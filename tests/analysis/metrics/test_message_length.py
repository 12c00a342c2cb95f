"""Length counts marks as words and spaces as characters."""

from analysis import get_metric
from tests.analysis.talks import talks

message_length = get_metric("message_length")


def test_marks_are_words_and_spaces_are_characters() -> None:
    found = message_length(talks([[("s", "Hi, there!"), ("human", "no")]])).set_index(
        ["metric", "question"]
    )
    own = found.xs("own messages", level="question")["estimate"]
    assert own["words_per_message"] == 4  # Hi , there !
    assert own["characters_per_message"] == 10
    assert found.loc[("words_per_message", "partner's messages"), "estimate"] == 1


def test_the_mean_is_over_messages_not_conversations() -> None:
    found = message_length(talks([[("s", "a"), ("s", "a a a")], [("s", "a a")] * 4]))
    row = found[found["metric"] == "words_per_message"].iloc[0]
    assert (row["estimate"], row["n"], row["conversations"]) == (2.0, 6, 2)
    assert row["reason"] == "all conversations are equal: no variance, so no interval"
