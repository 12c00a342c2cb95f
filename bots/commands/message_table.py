"""Table of messages of data sets, `python -m bots messages`, for the analysis of transcripts.

A line per message: what `python -m analysis` reads, with the data it comes from as `split`. Apart
because it is a command of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bots.dialogue import Dialogue
from bots.line_files import write_records

HUMAN = "human"  # the author that the analysis takes for people
HELP = "write data as a table of messages"
Reader = Callable[[Iterable[str]], list[Dialogue]]


def add_arguments(parser: argparse.ArgumentParser, read: Reader) -> None:
    """Declare what the command takes and runs."""
    parser.set_defaults(run=lambda request: command(request, read))
    add = parser.add_argument
    add("--data", action="append", required=True, metavar="KIND:PATH", help="may be repeated")
    add("--out", type=Path, required=True, help="a JSON Lines file")
    about = "who writes the side self; default human, as where people talk with each other"
    add("--system", default=HUMAN, metavar="NAME", help=about)


def command(request: argparse.Namespace, read: Reader) -> None:
    """Write the table and say how many messages it has."""
    rows = [row for source in request.data for row in _rows(source, read, request.system)]
    request.out.parent.mkdir(parents=True, exist_ok=True)
    write_records(rows, request.out)
    print(f"{len(rows)} messages; {request.out}")


def _rows(source: str, read: Reader, system: str) -> Iterator[dict[str, object]]:
    for dialogue in read([source]):
        personas = {"self": dialogue.persona, "partner": dialogue.partner_persona}
        conversation = f"{source}/{dialogue.id}"
        for seq, turn in enumerate(dialogue.turns):
            yield {
                "message": f"{conversation}/{seq}",
                "conversation": conversation,
                "seq": seq,
                "side": turn.speaker,
                "system": system if turn.speaker == "self" else HUMAN,
                "persona": "\n".join(personas[turn.speaker]),
                "text": turn.text,
                "sent_at": "",
                "split": source,
            }
