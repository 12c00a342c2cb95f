"""script/simulate PROTOCOL|FILE.json ... | --all: a campaign of each, over pages and sockets.

A campaign is made, opened and filled by simulated people, who rate systems by a planted quality;
its export goes through `python -m analysis`, which has to bring the planted truth back. One line
per protocol. Exit status: 0 where all came back, 1 where something did not, 2 for what cannot be
asked.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation import Protocol
from evaluation.registry import UnknownProtocol, protocol_names
from tests.live import ROOT, environment
from tests.simulate import competition, files, own_systems, recovered, written
from tests.simulate.admission import with_admission
from tests.simulate.planted import is_of_people, source_of

CHATTING, RATING = 24, 6  # people, where they chat and where they rate what others said
CHECKED = 40  # where some do not pass a check before the work
FEWEST = 12  # who chat, so that a planted chance can be told from guessing
MOST_TIMES = 21  # a campaign and as many repeats as are made at once
LARGEST_SEED = 2**31 - 1  # of a campaign
COLUMNS = {  # and how wide they are
    "protocol": 22,
    "people": 6,
    "conversations": 13,
    "answers": 7,
    "planted": 20,
    "recovered": 20,
    "verdict": 9,
    "seconds": 7,
}


class Refused(Exception):
    """What is asked for cannot be simulated; the text says what can."""


@dataclass(frozen=True)
class Line:
    """What came of one protocol; `problems` is empty where the planted truth came back."""

    cells: tuple[str, ...]
    problems: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per protocol; return 1 where one failed."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["--competition"]:
        return competition.main(words[1:])
    given = _parser().parse_args(words)
    try:
        _use_systems(given.systems)
        _check_seed(given.seed)
        _check_times(given.times)
        chosen = dict(
            _chosen(given.protocol, whole=given.all, people=given.people, times=given.times)
        )
        _check_transcripts(given, list(chosen.values()))
        _check_folder(given.keep, list(chosen.values()))
    except Refused as problem:
        print(f"simulate: {problem}", file=sys.stderr)
        return 2
    print(_about(short=given.short), flush=True)
    _print(tuple(COLUMNS))
    with tempfile.TemporaryDirectory(prefix="parley-simulate-") as temporary:
        into = given.keep or Path(temporary)
        lines = [_simulated(word, each, into, given) for word, each in chosen.items()]
    failed = sum(bool(line.problems) for line in lines)
    print(f"{len(lines) - failed} of {len(lines)} recovered.")
    return int(failed > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="script/simulate", description=__doc__)
    parser.add_argument(
        "protocol", nargs="*", metavar="PROTOCOL", help="a name, or a file of an own protocol"
    )
    parser.add_argument("--all", action="store_true", help="every protocol")
    parser.add_argument(
        "--people", type=int, help=f"default: {CHATTING} who chat, {RATING} who only rate"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--short",
        action="store_true",
        help="the shortest chats there can be, typed at once; few items per person",
    )
    parser.add_argument(
        "--times", type=int, default=1, help="evaluations, as phases of a study (default: 1)"
    )
    parser.add_argument(
        "--transcripts",
        type=Path,
        metavar="FOLDER",
        help="conversations held elsewhere, for third parties to label; short: one of each system",
    )
    parser.add_argument(
        "--admission",
        action="store_true",
        help="with a screening, a quiz and, where replies are judged, an onboarding",
    )
    parser.add_argument(
        "--systems", type=Path, metavar="FILE.json", help="other systems than the usual three"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="databases, exports, ledgers")
    return parser


def _about(*, short: bool) -> str:
    if short:
        return (
            "Short: chats have the smallest minimum there can be, bots type at once, and nobody "
            "judges more than 20 items."
        )
    return "Chats are as long as the protocols have them."


# --- what is asked for ----------------------------------------------------------------------------


def _chosen(
    names: Sequence[str], *, whole: bool, people: int | None, times: int
) -> Iterator[tuple[str, Protocol]]:
    """Yield the protocols asked for, each after its word. Raises `Refused`."""
    known = protocol_names()
    if unknown := [name for name in names if name not in known and not files.is_file(name)]:
        raise Refused(f"no protocol {', '.join(unknown)}; there are {', '.join(known)}")
    if bool(names) == whole:
        raise Refused(f"name protocols, or give --all; there are {', '.join(known)}")
    for name in names or known:
        protocol = _read(name)
        _check_people(protocol, people)
        if times > 1 and source_of(protocol) is not None:
            raise Refused(f"--times {times}: {protocol.name} judges what another campaign holds")
        yield name, protocol


def _read(word: str) -> Protocol:
    try:
        return files.protocol(word)
    except UnknownProtocol as problem:
        raise Refused(str(problem)) from None
    except (OSError, ValueError) as problem:
        raise Refused(f"{word} is no file of a protocol: {problem}") from None


def _people(protocol: Protocol, given: argparse.Namespace) -> int:
    """Return how many people come: more where checks keep some of them from the work."""
    usual = _usual(protocol)
    has_checks = given.admission or protocol.admissions or protocol.onboarding
    return int(given.people or (max(CHECKED, usual) if has_checks else usual))


def _use_systems(file: Path | None) -> None:
    try:
        if file is not None:
            own_systems.use(file)
    except (OSError, ValueError) as problem:
        raise Refused(f"--systems {file}: {problem}") from None


def _check_seed(seed: int) -> None:
    if not 0 <= seed <= LARGEST_SEED:
        raise Refused(f"--seed {seed}: write a whole number from 0 to {LARGEST_SEED}")


def _check_times(times: int) -> None:
    if not 1 <= times <= MOST_TIMES:
        raise Refused(f"--times {times}: write a whole number from 1 to {MOST_TIMES}")


def _check_transcripts(given: argparse.Namespace, chosen: Sequence[Protocol]) -> None:
    """Refuse a folder that is not there, or a protocol that labels nothing of others."""
    folder = given.transcripts
    if folder is None:
        return
    if not folder.is_dir():
        raise Refused(f"--transcripts {folder}: no such folder")
    if given.people is not None:
        raise Refused("--people: with --transcripts as many come as five labels a message need")
    if given.times > 1:
        raise Refused("--times: conversations held elsewhere are labeled once")
    for protocol in chosen:
        if protocol.after is None or not protocol.after.by_third_parties:
            raise Refused(f"--transcripts: {protocol.name} labels no messages of others")


def _check_people(protocol: Protocol, people: int | None) -> None:
    """Refuse a number of people that the protocol cannot be done with."""
    fewest = _fewest(protocol)
    if people is not None and people < fewest:
        raise Refused(f"--people {people}: {protocol.name} needs {fewest} or more")
    if people is not None and people % 2 and protocol.chat and is_of_people(protocol):
        raise Refused(f"--people {people}: {protocol.name} is for pairs, write {people + 1}")


def _fewest(protocol: Protocol) -> int:
    if protocol.write is not None:
        return written.ASIDE
    return protocol.after.votes if protocol.after and protocol.after.is_shared else FEWEST


def _usual(protocol: Protocol) -> int:
    """Return how many come: of those who judge conversations as a whole each judges all."""
    rate = protocol.after
    if rate is not None and rate.over == "conversation":
        return rate.votes
    is_brief = rate is not None and rate.over == "speakers"
    return CHATTING if protocol.chat or is_brief else max(RATING, _fewest(protocol))


def _check_folder(keep: Path | None, chosen: Sequence[Protocol]) -> None:
    """Refuse a folder that would be written over."""
    for protocol in chosen:
        if keep is not None and (keep / protocol.name).exists():
            raise Refused(f"--keep {keep}: has {protocol.name} already; name another folder")


# --- one protocol ---------------------------------------------------------------------------------


def _simulated(word: str, protocol: Protocol, into: Path, given: argparse.Namespace) -> Line:
    """Simulate a campaign in a folder of its own and print what came of it."""
    start = time.monotonic()
    people = _people(protocol, given)
    folder = into / protocol.name
    try:
        _run(word, folder, people, given)
        protocol = with_admission(protocol) if given.admission else protocol
        found = recovered.read(folder, protocol)
    except RuntimeError as broken:
        line = Line((protocol.name, str(people), *"----"), (str(broken),))
    else:
        answers = len(found.ratings) + len(found.contributions)
        numbers = (len(found.outcomes), found.conversations, answers)
        if given.transcripts is None:
            of_study = _of_study(folder, protocol, given.times)
            orders, wrong = recovered.orders(protocol, found), recovered.problems(protocol, found)
            problems = (*wrong, *of_study)
        else:
            orders = recovered.orders_of_transcripts(found, given.seed)
            problems = tuple(recovered.of_transcripts(found, given.seed))
        line = Line((protocol.name, *map(str, numbers), *orders), problems)
    verdict = "FAILED" if line.problems else "recovered"
    _print((*line.cells, verdict, f"{time.monotonic() - start:.0f}"))
    for problem in line.problems:
        print(f"  {problem}", flush=True)
    return line


def _of_study(folder: Path, protocol: Protocol, times: int) -> Iterator[str]:
    """Yield what the export of the study lacks, in which the campaign is one phase or several."""
    for phase, found in recovered.phases(folder, protocol):
        if not found.outcomes:
            yield f"study: nobody is in the phase {phase.name}"
        yield from (f"study, {phase.name}: {each}" for each in recovered.levels(phase, found))
    if times > 1:
        yield from (f"study: {each}" for each in recovered.repeats(folder, protocol, times))


def _run(word: str, folder: Path, people: int, given: argparse.Namespace) -> None:
    """Let people be simulated with a new database. Raises `RuntimeError`."""
    folder.mkdir(parents=True)
    checks = "checks" if given.admission else "own"
    length = "short" if given.short else "own"
    named = Path(word).resolve() if files.is_file(word) else word
    words = [named, folder.resolve(), people, given.seed, length, given.times, checks]
    words += [given.transcripts.resolve()] if given.transcripts else []
    with subprocess.Popen(  # which Ctrl-C lets end its server
        [sys.executable, "-m", "tests.simulate.campaign", *map(str, words)],
        cwd=ROOT,
        env=environment(folder.resolve()),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        _, said = process.communicate()
    if process.returncode:
        last = said.strip().splitlines()[-1:] or [f"it ended with {process.returncode}"]
        raise RuntimeError(last[0])


def _print(cells: Sequence[str]) -> None:
    padded = (cell.ljust(width) for cell, width in zip(cells, COLUMNS.values(), strict=True))
    print("  ".join(padded).rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
