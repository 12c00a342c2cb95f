"""People put the personas of others into words that share none with the original."""

# PC-P2: the personas are those of a campaign of `personachat_personas`, or imported.

from __future__ import annotations

from evaluation import (
    FreeText,
    NoNonstopOverlap,
    Protocol,
    SentenceLength,
    Source,
    Words,
    WorkedExample,
    Write,
    ours,
)


def _quoted(text: str) -> Words:
    return Words(f"«{text}»", tag="S", where="section 3.2", quoted=True)


FORD, BASKETBALL = _quoted("My father worked for Ford."), _quoted("I like basketball")
PROTOCOL = Protocol(
    name="personachat_revisions",
    title="PERSONA-CHAT revision of personas",
    source="Zhang et al. 2018, Personalizing Dialogue Agents, section 3.2",
    minutes=6,
    instructions=(
        ours("You will read the description of a person, sentence by sentence."),
        Words(
            "For each sentence, please write «a related characteristic that the same person may "
            "have»: say it in other words, more generally, or more specifically.",
            tag="S",
            where="section 3.2",
            quoted=True,
        ),
        Words(
            "Take care «not to trivially rephrase the sentence by copying the original words».",
            tag="S",
            where="section 3.2",
        ),
    ),
    steps=(
        Write(
            makes="revision",
            asks=FreeText(
                name="revision",
                text=ours("A related characteristic of the same person"),
                most_characters=200,
            ),
            checks=(SentenceLength(), NoNonstopOverlap()),
            examples=(
                WorkedExample(
                    original=BASKETBALL, text=_quoted("I am a big fan of Michael Jordan")
                ),
                WorkedExample(
                    original=BASKETBALL,
                    text=Words(
                        "«I am good at basketball»", tag="R", where="released revision code"
                    ),
                    good=False,
                    why=ours("It copies “basketball”."),
                ),
                WorkedExample(original=FORD, text=_quoted("My dad worked in the car industry")),
                WorkedExample(
                    original=FORD,
                    text=_quoted("My dad was employed by Ford."),
                    good=False,
                    why=ours("It copies “Ford”."),
                ),
            ),
        ),
    ),
    sources={
        "write.writers": Source("S", "section 3: the same 1155 personas, rewritten"),
        "write.batch": Source("D", "personas of one participant"),
        "write.review": Source("D", "the paper warns at a copied word, and accepts the rest"),
        "write.sentence_len.most": Source("R", "released revision code: announces 15 words"),
        "write.sentence_len.least": Source("R", "released revision code: at least 3 words"),
        "write.no_nonstop_overlap.stop_words": Source("D", "our list of stop words"),
        "write.no_nonstop_overlap.allowed": Source(
            "D", "the paper repeats “worked” in an example that it calls good"
        ),
    },
)
