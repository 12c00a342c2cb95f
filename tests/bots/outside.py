"""What bots need that is not in the repository: a checkpoint, a server, a function; made here."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest


def options(name: str) -> Mapping[str, object]:
    """Return the options without which a bot cannot answer; most need none."""
    return {"checkpoint": _checkpoint}[name]() if name in {"checkpoint"} else {}


def _checkpoint() -> Mapping[str, object]:
    return {"checkpoint": str(tiny_causal()), "max_tokens": 8}


@cache
def tiny_causal() -> Path:
    """Return the folder of a small random GPT-2."""
    transformers = pytest.importorskip("transformers")
    tokenizer = _tokenizer(transformers)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=128,
        n_embd=16,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    return _saved(transformers, transformers.GPT2LMHeadModel, config, tokenizer, 8)


@cache
def tiny_seq2seq() -> Path:
    """Return the folder of a small random T5."""
    transformers = pytest.importorskip("transformers")
    tokenizer = _tokenizer(transformers)
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        pad_token_id=1,
        eos_token_id=0,
        decoder_start_token_id=1,
    )
    return _saved(transformers, transformers.T5ForConditionalGeneration, config, tokenizer, 1.5)


def _saved(transformers: Any, kind: Any, config: Any, tokenizer: Any, scale: float) -> Path:
    transformers.set_seed(3)
    path = Path(tempfile.mkdtemp(prefix="parley-checkpoint-"))
    model = kind(config)
    for (
        weight
    ) in model.parameters():  # too small, and every text gets the same; too large, and one wins
        weight.data.mul_(scale)
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def _tokenizer(transformers: Any) -> Any:
    """Learn 300 pieces of bytes from the demo text."""
    import tokenizers

    from tests.bots.examples import demo

    trained = tokenizers.ByteLevelBPETokenizer()
    trained.train_from_iterator(
        _texts(each.turns for each in demo("valid")),
        vocab_size=300,
        special_tokens=["<|end|>", "<|pad|>"],
        show_progress=False,
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, eos_token="<|end|>", pad_token="<|pad|>"
    )


def _texts(dialogues: Iterable[Iterable[Any]]) -> list[str]:
    return [turn.text for turns in dialogues for turn in turns]
