"""Natural language inference: whether one sentence contradicts another, by a classifier on disk.

No classifier comes with Parley. A folder of one's own is read, in the layout of transformers and
with weights as safetensors: a model of sentence pairs, one of whose labels is contradiction, such
as one trained on Dialogue NLI (Welleck et al. 2019). It needs the extra `checkpoints`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from analysis.tables.options import BadOption

Pair = tuple[str, str]  # what stands, and what may contradict it
LABEL = "contradiction"
BATCH = 64


@dataclass(frozen=True)
class InferenceClassifier:
    """A classifier by name; `contradicts` tells it of each pair."""

    name: str
    contradicts: Callable[[Sequence[Pair]], Sequence[bool]]


def read(folder: Path) -> InferenceClassifier:
    """Return the classifier in a folder.

    Raises `BadOption` where there is none, none of its labels is contradiction, or transformers is
    not installed.
    """
    if not (folder / "config.json").is_file():
        raise BadOption("nli", str(folder), "a folder with a model of transformers (config.json)")
    try:
        # Only here and by name: whoever has no classifier never waits for torch.
        torch, transformers = import_module("torch"), import_module("transformers")
    except ImportError:
        right = 'a model that transformers reads: pip install "parley[checkpoints]"'
        raise BadOption("nli", str(folder), right) from None
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, local_files_only=True, use_safetensors=True
        ).eval()
    except (OSError, ValueError) as error:
        raise BadOption("nli", str(folder), f"a model that transformers reads ({error})") from error
    labels = [k for k, name in model.config.id2label.items() if str(name).lower() == LABEL]
    if not labels:
        names = ", ".join(map(str, model.config.id2label.values()))
        raise BadOption("nli", str(folder), f"a model with the label {LABEL}; this has {names}")

    def contradicts(pairs: Sequence[Pair]) -> list[bool]:
        found: list[bool] = []
        for start in range(0, len(pairs), BATCH):
            first, second = map(list, zip(*pairs[start : start + BATCH], strict=True))
            read_in: Any = tokenizer(
                first, second, padding=True, truncation=True, return_tensors="pt"
            )
            with torch.inference_mode():
                found += (model(**read_in).logits.argmax(dim=1) == labels[0]).tolist()
        return found

    return InferenceClassifier(folder.resolve().name, contradicts)
