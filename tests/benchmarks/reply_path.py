"""From a participant's send to the bot's message received: a real server, real websockets.

    python -m tests.benchmarks.reply_path [--people 1 50] [--rounds 10]
    python -m tests.benchmarks.reply_path --weights DIR --inference process thread

The first measures an instant bot (asked: p50 60 ms for one person, p95 300 ms for 50 at once, who
all send at the same moment). The second measures how long an acknowledgement takes while a trained
bot generates for 50 others (asked: p95 100 ms).
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.live import Client, Server, Study, seed, serving

PACE = 2.05  # seconds between messages of one person: the server allows 30 a minute


def quantile(values: Sequence[float], part: float) -> float:
    """Return the value below which this part of the values lies, in milliseconds."""
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))]


async def _enter(server: Server, study: Study) -> list[Client]:
    clients = [Client(server, study, number) for number in range(len(study.secrets))]
    for client in clients:
        await client.connect()
        await client.hello()
    return clients


async def _turn(client: Client, text: str) -> tuple[float, float]:
    """Say something; return the seconds to the acknowledgement and to the reply."""
    started = time.perf_counter()
    item = await client.send_message(text)
    acked = 0.0

    def done(frame: dict[str, object]) -> bool:
        nonlocal acked
        if frame["type"] == "ack" and frame["id"] == item:
            acked = time.perf_counter() - started
        return frame.get("kind") == "message" and frame["side"] == "partner"

    await client.until(done, 120)
    return acked, time.perf_counter() - started


async def instant(server: Server, study: Study, rounds: int) -> list[tuple[float, float]]:
    """Let everybody send at once, some rounds long; the first round warms up."""
    clients = await _enter(server, study)
    found: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        turns = await asyncio.gather(*(_turn(c, f"This is message {number}.") for c in clients))
        found += turns if number else []
    for client in clients:
        await client.close()
    return found


async def beside(
    server: Server, crowd: Study, talkers: Study, seconds: float
) -> tuple[list[float], list[float]]:
    """Time the acknowledgements of those who talk to an instant bot while the crowd's bot works."""
    busy_ones, quick_ones = await _enter(server, crowd), await _enter(server, talkers)
    for client in (busy_ones[0], quick_ones[0]):  # the bots are loaded, as a rehearsal leaves them
        await _turn(client, "Hello there.")
    await asyncio.sleep(PACE)
    end = time.perf_counter() + seconds
    busy: list[float] = []
    acks: list[float] = []

    async def talk(client: Client, delay: float, found: list[float], which: int) -> None:
        await asyncio.sleep(delay)
        number = 0
        while (started := time.perf_counter()) < end:
            number += 1
            found.append((await _turn(client, f"What do you do on day {number}?"))[which])
            await asyncio.sleep(max(0.0, started + PACE - time.perf_counter()))

    clients = [*busy_ones, *quick_ones]
    await asyncio.gather(
        *(talk(client, 0.0, busy, 1) for client in busy_ones),
        *(
            talk(client, PACE * place / len(quick_ones), acks, 0)
            for place, client in enumerate(quick_ones)
        ),
    )
    for client in clients:
        await client.close()
    return acks, busy


@contextmanager
def _serving(wanted: Mapping[str, object], **changes: str) -> Iterator[tuple[Server, Study]]:
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), wanted, **changes) as both:
        yield both


def _report(name: str, values: Sequence[float]) -> None:
    p50, p95, most = quantile(values, 0.5), quantile(values, 0.95), 1000 * max(values)
    print(f"{name:52} n {len(values):5}  p50 {p50:7.1f}  p95 {p95:7.1f}  max {most:7.1f} ms")
    sys.stdout.flush()


def _instant(people: Sequence[int], rounds: int) -> None:
    for count in people:
        wanted = {"people": count, "protocol": "personachat_bot", "bot": "parrot"}
        with _serving(wanted) as (server, study):
            turns = asyncio.run(instant(server, study, rounds))
        _report(f"{count} at once, instant bot: acknowledged", [ack for ack, _ in turns])
        _report(f"{count} at once, instant bot: answered", [reply for _, reply in turns])


def _beside(bot: str, weights: Path, inference: Sequence[str], seconds: float) -> None:
    for where in inference:
        wanted = {"people": 50, "bot": bot, "options": {"weights": str(weights.resolve())}}
        with _serving(wanted, INFERENCE=where) as (server, study):
            other = seed(server.env, people=20, bot="parrot")
            acks, busy = asyncio.run(beside(server, study, other, seconds))
        _report(f"INFERENCE={where}: acknowledged beside 50 at {bot}", acks)
        _report(f"INFERENCE={where}: answers of {bot} to the 50", busy)
        rate = len(busy) / seconds
        print(f"INFERENCE={where}: {rate:.0f} replies/s; mean {statistics.mean(busy):.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="*", default=[1, 50])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--weights", type=Path, help="weights of a trained bot")
    parser.add_argument("--bot", default="profile_memory")
    parser.add_argument("--inference", nargs="*", default=["process", "thread"])
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    if given.weights:
        _beside(given.bot, given.weights, given.inference, given.seconds)
    else:
        _instant(given.people, given.rounds)


if __name__ == "__main__":
    main()
