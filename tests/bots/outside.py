"""What bots need that is not in the repository: a checkpoint, a server, a function; made here."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.bots.chat_completions import running


def options(name: str) -> Mapping[str, object]:
    """Return the options without which a bot cannot answer; most need none."""
    needed: dict[str, Callable[[], Mapping[str, object]]] = {
        "callable": _function,
        "chat_server": _server,
        "checkpoint": _checkpoint,
        "small_model": _small_model,
    }
    return needed[name]() if name in needed else {}


def _function() -> Mapping[str, object]:
    os.environ["BOT_CALLABLES"] = "tests.bots.functions.count"
    return {"function": "tests.bots.functions.count"}


@cache
def _server() -> Mapping[str, object]:
    """Start a server that lives as long as the tests' process."""
    serving = running()
    fake = serving.__enter__()
    atexit.register(serving.__exit__, None, None, None)
    os.environ["BOT_PRIVATE_HOSTS"] = f"127.0.0.1:{fake.port}"
    return {"url": fake.url, "model": "good"}


def _checkpoint() -> Mapping[str, object]:
    return {"checkpoint": str(tiny_causal()), "max_tokens": 8}


def _small_model() -> Mapping[str, object]:
    return {"checkpoint": str(tiny_chat()), "max_tokens": 8}


def folder() -> Path:
    """Return a new folder that lives as long as the tests' process."""
    made = tempfile.TemporaryDirectory(prefix="parley-tests-")
    atexit.register(made.cleanup)
    return Path(made.name)


@cache
def tiny_chat() -> Path:
    """Return the folder of the small random GPT-2, with a chat template."""
    path = folder()
    shutil.copytree(tiny_causal(), path, dirs_exist_ok=True)
    lines = "{% for each in messages %}{{ each['role'] }}: {{ each['content'] }}\n{% endfor %}"
    (path / "chat_template.jinja").write_text(lines + "assistant:", "utf-8")
    return path


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
    path = folder()
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
