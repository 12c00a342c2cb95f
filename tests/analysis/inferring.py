"""Classifiers of inference for tests: one that knows two pairs, and a small one on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.text.inference import InferenceClassifier, Pair

# ConvAI2 (Dinan et al. 2019, section 5), and neutral sentences in place of the second.
RUNNER, SNOW = (
    "i am a professional runner. you? i love running.",
    "i work as a snowboard instructor",
)
PRINTED = [(RUNNER, "i'm not very athletic"), (SNOW, "i work for a food company")]
NEUTRAL = [(RUNNER, "i have a red car"), (SNOW, "my sister likes tea")]
KNOWN = {
    ("i am a professional runner.", "i'm not very athletic"),
    ("i work as a snowboard instructor", "i work for a food company"),
}
LABELS = ("entailment", "neutral", "contradiction")


def by_heart() -> InferenceClassifier:
    return InferenceClassifier("by heart", lambda pairs: [pair in KNOWN for pair in pairs])


def trained(folder: Path, labels: Sequence[str] = LABELS) -> Path:
    """Write a model of a few hundred weights that has learned the printed pairs by heart."""
    import torch  # not by whoever only collects tests: it takes 3 s of CPU with transformers
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    torch.manual_seed(0)
    pairs: list[tuple[Pair, int]] = [(pair, 2) for pair in sorted(KNOWN)]
    firsts = sorted({first for first, _ in KNOWN} | {"i love running."})
    seconds = sorted({second for _, second in (*PRINTED, *NEUTRAL)})
    pairs += [((a, b), 1) for a in firsts for b in seconds if (a, b) not in KNOWN]
    words = sorted(
        {word for pair, _ in pairs for word in " ".join(pair).replace(".", " .").split()}
    )
    words = sorted({*words, "'", "i", "m"} - {"i'm"})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])
    )
    tokenizer = BertTokenizer(str(folder / "vocab.txt"))
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    }
    names = dict(enumerate(labels))
    config = BertConfig(
        vocab_size=len(tokenizer),
        initializer_range=0.2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        id2label=names,
        label2id={name: k for k, name in names.items()},
        **sizes,
    )
    model = BertForSequenceClassification(config)
    read = tokenizer(
        *map(list, zip(*(pair for pair, _ in pairs), strict=True)),
        padding=True,
        return_tensors="pt",
    )
    wanted = torch.tensor([label for _, label in pairs])
    steps = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(150):
        steps.zero_grad()
        model(**read, labels=wanted).loss.backward()
        steps.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
