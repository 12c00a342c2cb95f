"""Weights on disk: arrays as safetensors, and their origin beside them as JSON.

Nothing here can run code that a file brings along: no pickle, in any form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bots.dialogue import Dialogue

ABOUT = "bot.json"
ARRAYS = "weights.safetensors"
SHOWN = 5  # most arrays that a message names

if TYPE_CHECKING:
    import numpy as np


class InvalidWeights(ValueError):
    """A directory that does not hold the weights of a bot."""


class Arrays(dict[str, "np.ndarray"]):
    """The arrays of a directory, by name; one that is wanted and not there is told."""

    path: Path
    bot: str

    def __missing__(self, name: str) -> np.ndarray:
        raise self._unfit([f"{name} is missing"])

    def fit(self, wanted: Mapping[str, Sequence[int]]) -> None:
        """Refuse arrays that are not, in name and shape, the ones that are wanted.

        Raises InvalidWeights, naming the file, the array and both shapes.
        """
        wanted = {name: tuple(shape) or (1,) for name, shape in wanted.items()}  # as `save` does
        wrong = [
            f"{name} is {_shape(self[name].shape)}, must be {_shape(shape)}"
            for name, shape in wanted.items()
            if name in self and self[name].shape != shape
        ]
        wrong += [
            f"{name} ({_shape(shape)}) is missing"
            for name, shape in wanted.items()
            if name not in self
        ]
        wrong += [f"{name} is not known" for name in sorted(self.keys() - wanted.keys())]
        if wrong:
            raise self._unfit(wrong)

    def _unfit(self, wrong: Sequence[str]) -> InvalidWeights:
        more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        return InvalidWeights(
            f"{self.path / ARRAYS} does not fit {self.bot} as {ABOUT} beside it describes it: "
            f"{'; '.join(wrong[:SHOWN])}{more}. It is of another version, or of other options: "
            f"train {self.bot} again, or put back both files as `python -m bots train` wrote them"
        )


@dataclass(frozen=True)
class About:
    """Origin of weights, and the meaning of their arrays: vocabulary, replies."""

    bot: str
    options: Mapping[str, Any]
    seed: int
    data: str  # a hash of the dialogues
    versions: Mapping[str, str]
    vocabulary: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    history: tuple[Mapping[str, float], ...] = ()  # one entry per epoch
    corpus: str = ""  # what was learned, as who trained it calls it
    license: str = ""  # of the corpus


def save(path: Path, arrays: Mapping[str, np.ndarray], about: About) -> None:
    """Write a directory of weights."""
    # Only where weights are read or written: whoever lists bots need not wait for it.
    import numpy as np
    from safetensors.numpy import save_file

    path.mkdir(parents=True, exist_ok=True)
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path / ARRAYS)
    _write_about(path, about)


def note_corpus(path: Path, corpus: str, license: str) -> None:
    """Write down what a directory's weights were trained on, and under which license."""
    about = replace(read_about(path), corpus=corpus, license=license)
    _write_about(path, about)


def _write_about(path: Path, about: About) -> None:
    text = json.dumps(asdict(about), ensure_ascii=False, indent=1, sort_keys=True)
    (path / ABOUT).write_text(text + "\n", "utf-8")


def load(path: Path, *bots: str) -> tuple[Arrays, About]:
    """Read a directory of weights, of one of these bots where any are named.

    Raises InvalidWeights if it cannot be read or is of another bot.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    about = read_about(path)
    if bots and about.bot not in bots:
        wanted = " or ".join(bots)
        raise InvalidWeights(f"{path} holds weights of {about.bot}, not of {wanted}")
    try:
        arrays = Arrays(load_file(path / ARRAYS))
        arrays.path, arrays.bot = path, about.bot
        return arrays, about
    except (OSError, SafetensorError) as error:
        raise InvalidWeights(f"{path}: {ARRAYS} cannot be read: {error}") from error


def _shape(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def read_about(path: Path) -> About:
    """Read where the weights of a directory came from.

    Raises InvalidWeights if the directory holds no weights.
    """
    try:
        raw: dict[str, Any] = json.loads((path / ABOUT).read_text("utf-8"))
        known = {field.name for field in fields(About)}
        values: dict[str, Any] = {
            key: tuple(v) if isinstance(v, list) else v for key, v in raw.items()
        }
        return About(**{key: value for key, value in values.items() if key in known})
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidWeights(
            f"{path} holds no weights: it must be a directory that "
            f"`python -m bots train` wrote, with {ABOUT} and {ARRAYS} ({error})"
        ) from error


def digest(path: Path) -> str:
    """Return a hash of both files of a directory."""
    stamps = tuple((path / name).stat().st_mtime_ns for name in (ABOUT, ARRAYS))
    return _digest(path.resolve(), stamps)


@lru_cache(maxsize=64)
def _digest(path: Path, _stamps: tuple[int, ...]) -> str:
    hashed = hashlib.sha256()
    for name in (ABOUT, ARRAYS):
        with (path / name).open("rb") as file:
            hashed.update(hashlib.file_digest(file, "sha256").digest())
    return hashed.hexdigest()


def digest_of_files(path: Path) -> str:
    """Return a hash of all files of a folder, names included."""
    files = sorted(each for each in path.iterdir() if each.is_file())
    return _digest_files(tuple((each.resolve(), each.stat().st_mtime_ns) for each in files))


@lru_cache(maxsize=16)
def _digest_files(files: tuple[tuple[Path, int], ...]) -> str:
    hashed = hashlib.sha256()
    for path, _ in files:
        with path.open("rb") as file:
            hashed.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return hashed.hexdigest()


def digest_of(value: object) -> str:
    """Return a hash of plain values."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=asdict_or_text)
    return hashlib.sha256(text.encode()).hexdigest()


def asdict_or_text(value: object) -> object:
    """Turn what JSON does not know into what it knows."""
    return asdict(value) if isinstance(value, Dialogue) else str(value)


def data_digest(dialogues: Iterable[Dialogue]) -> str:
    """Return a hash of the dialogues, whatever file they came from."""
    return digest_of([asdict(dialogue) for dialogue in dialogues])
