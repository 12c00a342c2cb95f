"""A process of simulated people: `python -m webapp.crowd LEDGER`, told what to do on its input.

The first line of input says where to go and who comes (a JSON object, see `Order`). What a partner
is worth is not to be seen by a blinded client, so the crowd asks on its output, one JSON line each
`{"ask": 3, "person": "sim-7-12"}`, and is answered on its input
`{"answer": 3, "system": "tfidf", "persona": "p12"}`. `{"ended": "sim-7-12"}` tells of each person
who is done, and the process ends with the last one.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webapp.crowd.ledger import Ledger
from webapp.crowd.participant import Participant, Visit
from webapp.crowd.people import Mix, Person, Quality, draw_people


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a crowd is to do: people number `first` to `first` + `count`, so many at once."""

    bases: list[str]
    slug: str
    count: int
    first: int = 0
    seed: int = 0
    at_once: int = 10
    seconds: float = 300.0
    patience: float = 90.0
    prefix: str = "sim"
    oracle: bool = False
    mix: Mapping[str, float] = field(default_factory=dict)
    planted: Mapping[str, Quality] = field(default_factory=dict)

    def people(self) -> list[Person]:
        mix = Mix(**self.mix)
        drawn = draw_people(self.first + self.count, seed=self.seed, mix=mix, prefix=self.prefix)
        return drawn[self.first :]

    def visit(self) -> Visit:
        return Visit(tuple(self.bases), self.slug, self.planted, self.seconds, self.patience)


class Oracle:
    """Asks on the output, is answered on the input."""

    def __init__(self) -> None:
        self._asked: dict[int, asyncio.Future[Mapping[str, Any]]] = {}

    async def ask(self, person: str) -> Mapping[str, Any]:
        number = len(self._asked)
        self._asked[number] = asyncio.get_running_loop().create_future()
        say({"ask": number, "person": person})
        return await self._asked[number]

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read answers until the input ends."""
        for line in sys.stdin:
            answer = json.loads(line)
            loop.call_soon_threadsafe(self._asked[answer["answer"]].set_result, answer)


async def nobody(person: str) -> Mapping[str, Any]:
    """Answer where there is no oracle."""
    return {}


def say(record: Mapping[str, Any]) -> None:
    print(json.dumps(record), flush=True)


async def crowd(order: Order, ledger: Ledger) -> None:
    """Let everybody take part, `at_once` at a time."""
    oracle = Oracle()
    loop = asyncio.get_running_loop()
    listening = asyncio.to_thread(oracle.listen, loop) if order.oracle else None
    listener = asyncio.ensure_future(listening) if listening else None
    room = asyncio.Semaphore(order.at_once)

    async def visit(person: Person) -> None:
        async with room:
            ask = oracle.ask if order.oracle else nobody
            await Participant(person, order.visit(), ledger, ask).live()
            say({"ended": person.name})

    await asyncio.gather(*(visit(person) for person in order.people()))
    if listener is not None:
        say({"done": order.count})
        await listener


def main() -> int:
    order = Order(**json.loads(sys.stdin.readline()))
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        asyncio.run(crowd(order, Ledger(file)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
