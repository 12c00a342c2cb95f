"""A process of simulated people: `python -m webapp.crowd LEDGER`, with orders on its input.

The first line of input says where to go and who comes (`webapp.crowd.order`). What a partner
is worth is not to be seen by a blinded client, so the crowd asks on its output, one JSON line each
`{"ask": 3, "person": "sim-7-12"}`, and is answered on its input
`{"answer": 3, "system": "tfidf", "persona": "p12"}`. `{"ask": 4, "gone": "sim-7-12"}` says that a
person has left for good, so that their seat can be freed, and waits for any answer;
`{"ended": "sim-7-12"}` names each person who is done. The process ends with the last one.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webapp.crowd.ledger import Ledger
from webapp.crowd.order import Order, parse
from webapp.crowd.participant import Participant
from webapp.crowd.people import Person


class Oracle:
    """Asks on the output, is answered on the input."""

    def __init__(self) -> None:
        self._requests: dict[int, asyncio.Future[Mapping[str, Any]]] = {}

    async def ask(self, person: str) -> Mapping[str, Any]:
        return await self._answer(person=person)

    async def gone(self, person: str) -> Mapping[str, Any]:
        return await self._answer(gone=person)

    async def _answer(self, **about: str) -> Mapping[str, Any]:
        number = len(self._requests)
        self._requests[number] = asyncio.get_running_loop().create_future()
        write({"ask": number, **about})
        return await self._requests[number]

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read answers until the input ends."""
        for line in sys.stdin:
            answer = json.loads(line)
            loop.call_soon_threadsafe(self._requests[answer["answer"]].set_result, answer)


async def nobody(person: str) -> Mapping[str, Any]:
    """Answer where there is no oracle."""
    return {}


def write(record: Mapping[str, Any]) -> None:
    print(json.dumps(record), flush=True)


async def crowd(order: Order, ledger: Ledger) -> None:
    """Let everybody take part, `at_once` at a time."""
    oracle = Oracle()
    if order.oracle:
        loop = asyncio.get_running_loop()
        threading.Thread(target=oracle.listen, args=(loop,), daemon=True).start()
    limit = asyncio.Semaphore(order.at_once)

    async def visit(index: int, person: Person) -> None:
        await asyncio.sleep(index * order.apart)
        async with limit:
            ask = oracle.ask if order.oracle else nobody
            await Participant(person, order.visit(), ledger, ask).live()
            if order.oracle:
                await oracle.gone(person.name)
            write({"ended": person.name})

    await asyncio.gather(*(visit(*each) for each in enumerate(order.people())))


def main() -> int:
    order = parse(sys.stdin.readline())
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        asyncio.run(crowd(order, Ledger(file)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
