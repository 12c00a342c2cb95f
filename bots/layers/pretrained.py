"""A checkpoint of `transformers` as the decoder wants it: how a turn is put, read and gone on from.

Nothing is downloaded and no code of a checkpoint is run: its folder must hold config.json,
weights as safetensors, and a tokenizer. transformers is an extra and imported when it is needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from torch import Tensor

from bots.bot import Turn
from bots.layers.prompts import SHIFT, PiecesCodec, Prompt
from bots.vocabulary import END, START, Codec
from bots.weights import InvalidWeights

Kind = Literal["auto", "causal", "seq2seq"]
PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
LENGTHS = ("max_position_embeddings", "n_positions", "n_ctx")
LONGEST_RANKED = 128  # tokens of a candidate that are looked at
ANY_LENGTH = 1024  # of a model that says no limit, such as T5's relative positions


def check_folder(path: Path) -> Mapping[str, Any]:
    """Return the configuration in a checkpoint's folder, or say what is wrong with the folder."""
    try:
        about: Mapping[str, Any] = json.loads((path / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidWeights(
            f"{path} is no checkpoint: it must be a folder with config.json, *.safetensors and a "
            f"tokenizer ({error})"
        ) from error
    if not list(path.glob("*.safetensors")):
        pickled = sorted(each.name for each in path.iterdir() if each.suffix in {".bin", ".pt"})
        found = f"{', '.join(pickled)} is pickle, which can run code" if pickled else "none found"
        raise InvalidWeights(
            f"{path}: weights must be safetensors; {found}. Convert them where they can be "
            "trusted: model.save_pretrained(folder) writes safetensors"
        )
    if "auto_map" in about:
        raise InvalidWeights(f"{path} asks to run code of its own (auto_map): that is never done")
    return about


@dataclass(frozen=True)
class State:
    """A batch that is being written: the cache, and what tells its rows apart."""

    cache: Any
    mask: Tensor
    first: Tensor | None = None  # logits that reading the prompt already gave
    read: Tensor | None = None  # what an encoder made of the prompt


class Pretrained:
    """A language model, or an encoder with a decoder, that can be stepped in batches."""

    def __init__(
        self, path: Path, kind: Kind, prompt: Prompt, room: int, where: torch.device, precision: str
    ) -> None:
        about = check_folder(path)
        self.writes_on = _kind(path, kind, about) == "causal"
        self.model, self.tokenizer = _open(path, self.writes_on, where, PRECISIONS[precision])
        self.prompt = prompt
        self.longest, most = self._lengths(room)
        self.codec: Codec = PiecesCodec(
            self.tokenizer, " " if prompt.layout == "marks" else "", most
        )
        if prompt.layout == "template" and not self.tokenizer.chat_template:
            raise InvalidWeights(f"{path}: its tokenizer has no chat template; use layout marks")
        self.ends = self._ends()
        if not self.ends:
            raise InvalidWeights(f"{path}: neither model nor tokenizer names an end token")

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return torch.device(self.model.device)

    def _lengths(self, room: int) -> tuple[int, int]:
        """Return how many tokens a prompt and a reply may have."""
        limits = (getattr(self.model.config, name, None) for name in LENGTHS)
        most = min((each for each in limits if isinstance(each, int)), default=ANY_LENGTH)
        reply = min(max(room, LONGEST_RANKED), most // 2)
        return (most - reply - 1 if self.writes_on else most), reply

    def start(self, turns: Sequence[Turn]) -> State:
        """Read all prompts in one pass, padded on the left."""
        rows = [self._prompt(turn) for turn in turns]
        width = max(map(len, rows))
        ids = torch.tensor([[self.ends[0]] * (width - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        ids, mask = ids.to(self.device), mask.to(self.device)
        if self.writes_on:
            places = self._places((mask.cumsum(1) - 1).clamp(min=0))
            told = self.model(input_ids=ids, attention_mask=mask, use_cache=True, **places)
            return State(told.past_key_values, mask, first=told.logits[:, -1])
        read = self.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        return State(None, mask, read=read)

    def step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Take one step; the first one of a language model was taken when the prompt was read."""
        if state.first is not None:
            return self._log_probs(state.first), replace(state, first=None)
        ids = self._own(tokens.to(self.device))[:, None]
        if self.writes_on:
            mask = torch.cat([state.mask, torch.ones_like(state.mask[:, :1])], dim=1)
            given: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
            given |= self._places(mask.sum(1, keepdim=True) - 1)
        else:
            mask = state.mask
            read = _Read(last_hidden_state=state.read)
            given = {"decoder_input_ids": ids, "attention_mask": mask, "encoder_outputs": read}
        told = self.model(past_key_values=state.cache, use_cache=True, **given)
        state = State(told.past_key_values, mask, read=state.read)
        return self._log_probs(told.logits[:, -1]), state

    def select(self, state: State, rows: Tensor) -> State:
        """Return a state of these rows."""
        rows = rows.to(self.device)
        if state.cache is not None:
            state.cache.batch_select_indices(rows)
        return State(
            state.cache,
            state.mask[rows],
            None if state.first is None else state.first[rows],
            None if state.read is None else state.read[rows],
        )

    def _places(self, places: Tensor) -> dict[str, Tensor]:
        """Count from each row's own first token, where the model counts at all."""
        taken = signature(self.model.forward).parameters
        return {"position_ids": places} if "position_ids" in taken else {}

    def _log_probs(self, logits: Tensor) -> Tensor:
        """Return log-probabilities of our ids: every way to end is the one end mark."""
        own = logits.float().log_softmax(1)[:, : len(self.tokenizer)]
        ending = own[:, self.ends].logsumexp(1, keepdim=True)
        own = own.clone()
        own[:, self._unsaid] = -torch.inf
        marks = torch.full((len(own), SHIFT), -torch.inf, device=own.device)
        marks[:, END] = ending[:, 0]
        return torch.cat([marks, own], dim=1)

    def _own(self, tokens: Tensor) -> Tensor:
        start = getattr(self.model.config, "decoder_start_token_id", None)
        first = self.ends[0] if start is None else start
        own = (tokens - SHIFT).where(tokens >= SHIFT, self.ends[0])
        return own.where(tokens != START, first)

    def _prompt(self, turn: Turn) -> list[int]:
        persona, history = turn
        clean = (
            [self._plain(each) for each in persona],
            [replace(each, text=self._plain(each.text)) for each in history],
        )
        ids = self._ids(clean)[-self.longest :]
        return ids or [self.ends[0]]

    def _ids(self, turn: Turn) -> list[int]:
        if self.prompt.layout == "template":
            text = self.tokenizer.apply_chat_template(
                self.prompt.chat(turn), tokenize=False, add_generation_prompt=True
            )
            return list(self.tokenizer(text, add_special_tokens=False).input_ids)
        if self.prompt.layout == "turns":
            persona, history = turn
            texts = [*(persona if self.prompt.told else ()), *(each.text for each in history)]
            said = self.tokenizer(texts, add_special_tokens=False).input_ids if texts else []
            return [token for ids in said for token in [*ids, self.ends[0]]]
        ids = list(self.tokenizer(self.prompt.text(turn)).input_ids)
        return ids[:-1] if self.writes_on and ids and ids[-1] in self.ends else ids

    def _plain(self, text: str) -> str:
        """Leave out what the tokenizer would take for a mark of its own."""
        for mark in self._marks:
            text = text.replace(mark, " ")
        return text

    @cached_property
    def _marks(self) -> list[str]:
        added = self.tokenizer.get_added_vocab()
        return sorted({*self.tokenizer.all_special_tokens, *added}, key=len, reverse=True)

    def _ends(self) -> list[int]:
        """Return what ends a reply: the end token first, and with marks a new line as well."""
        named = [self.tokenizer.eos_token_id, self.model.generation_config.eos_token_id]
        found = [each for one in named for each in (one if isinstance(one, list) else [one])]
        if self.prompt.layout == "marks":
            pieces = enumerate(self.codec.words)
            found += [place for place, piece in pieces if piece and ("Ċ" in piece or "\n" in piece)]
        return list(dict.fromkeys(each for each in found if each is not None))

    @cached_property
    def _unsaid(self) -> list[int]:
        return sorted({*self.ends, *self.tokenizer.all_special_ids})


class _Read(dict[str, Any]):
    """What an encoder gave, as models take it: by name, and by place."""

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __getitem__(self, key: Any) -> Any:
        return list(self.values())[key] if isinstance(key, int) else super().__getitem__(key)


def _kind(path: Path, wanted: Kind, about: Mapping[str, Any]) -> str:
    found = "seq2seq" if about.get("is_encoder_decoder") else "causal"
    if wanted not in ("auto", found):
        raise InvalidWeights(f"{path} is a {found} checkpoint; kind is {wanted!r}")
    return found


def _open(path: Path, causal: bool, where: torch.device, precision: torch.dtype) -> tuple[Any, Any]:
    try:
        import transformers
    except ImportError as error:
        raise InvalidWeights(
            "checkpoints need the extra: pip install 'parley[checkpoints]'"
        ) from error
    kind: Any = transformers.AutoModelForCausalLM if causal else transformers.AutoModelForSeq2SeqLM
    tokenizers: Any = transformers.AutoTokenizer
    logging: Any = transformers.utils.logging
    logging.disable_progress_bar()
    mute = {"local_files_only": True, "trust_remote_code": False}
    try:
        model = kind.from_pretrained(path, use_safetensors=True, dtype=precision, **mute)
        tokenizer = tokenizers.from_pretrained(path, **mute)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        told = str(error).strip() or type(error).__name__
        raise InvalidWeights(f"{path} cannot be opened: {told.splitlines()[0]}") from error
    return model.to(where).eval(), tokenizer
