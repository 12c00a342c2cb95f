"""What the strongest ranker must pass: MiniLM fine-tuned plainly, persona and messages in one text.

    python -m tests.benchmarks.plain_ranker --data jsonl:train.jsonl --test jsonl:test.jsonl

A context is the persona and the last three messages as one text; all six layers learn by a softmax
over the replies of a batch (cosines times 20: Henderson et al. 2017, section 4.4; the scale is
the usual one of sentence encoders). Nothing is held out and nothing stops it early: so many epochs
it is. Printed is hits@1 of 20 with the persona, by candidates as `python -m bots predict` has them.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from bots.commands.predictions import Task, hits, predict
from bots.dialogue import Dialogue, Example, Utterance, examples
from bots.encoders.minilm import MiniLM, tokens
from bots.learning import training
from bots.registry import get_dataset

MESSAGES = 3
LONGEST = 128  # tokens of a text
SCALE = 20.0
AT_ONCE = 8


class Plain:
    """The encoder, and what it is asked: a ranker."""

    def __init__(self) -> None:
        self.encoder = MiniLM(trained=6)

    def loss(self, batch: Sequence[Example]) -> Tensor:
        """Softmax over the replies of the batch."""
        contexts = self.vectors([context(each.persona, each.history) for each in batch])
        scores = SCALE * contexts @ self.vectors([each.reply for each in batch]).T
        return functional.cross_entropy(scores, torch.arange(len(batch)))

    def vectors(self, texts: Sequence[str]) -> Tensor:
        """Return the vectors of texts, of length 1; texts of like length are encoded together."""
        asked = [tokens(text, LONGEST) for text in texts]
        order = sorted(range(len(asked)), key=lambda place: len(asked[place]))
        found = [
            self.encoder([asked[place] for place in order[start : start + AT_ONCE]]).mean()
            for start in range(0, len(order), AT_ONCE)
        ]
        places = torch.tensor(order).argsort()
        return functional.normalize(torch.cat(found).float()[places], dim=-1)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the cosine of each candidate."""
        with torch.inference_mode():
            found: list[float] = (
                self.vectors(candidates) @ self.vectors([context(persona, history)])[0]
            ).tolist()
        return found


def context(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Return what the encoder is told."""
    return " ".join((*persona, *(turn.text for turn in history[-MESSAGES:])))


def trained(dialogues: Sequence[Dialogue], given: argparse.Namespace) -> Plain:
    """Fine-tune all layers, the rate rising for a tenth of the steps and falling to 0."""
    plain, items = Plain(), list(examples(dialogues, "self"))
    steps = given.epochs * math.ceil(len(items) / given.batch)

    def share(step: int) -> float:
        return float(min(step / (steps / 10), (steps - step) / (steps * 0.9), 1.0))

    plan = training.Plan(
        given.epochs,
        given.batch,
        given.epochs,
        given.seed,
        "plain",
        clip=1.0,
        schedule=share,
        precision="bf16",
    )
    learning = [value for value in plain.encoder.parameters() if value.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=given.rate, weight_decay=0.01)
    training.fit(plain.encoder.layers, optimizer, items, (), plain.loss, plan)
    plain.encoder.eval()
    return plain


def main() -> None:
    """Train, rank, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--test", required=True)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    learned, test = (
        get_dataset(kind).read(where)
        for kind, where in (name.split(":", 1) for name in (given.data, given.test))
    )
    plain = trained(learned, given)
    for persona in ("self", "none"):
        rows = list(predict(plain, "plain", test, Task("test", seed=given.seed, persona=persona)))
        print(f"plain fine-tuning, persona {persona}: hits@1/20 {hits(rows):.3f} (n {len(rows)})")


if __name__ == "__main__":
    main()
