"""Pretrained model of `transformers` as the decoder wants it: how it reads a turn and continues.

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
from bots.dialogue import Utterance
from bots.text.vocabulary import END, START, Codec
from bots.weights import InvalidWeights
from bots.zoo.checkpoint.prompts import NOTES, SHIFT, PiecesCodec, Prompt

Kind = Literal["auto", "causal", "seq2seq"]
PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
LENGTHS = ("max_position_embeddings", "n_positions", "n_ctx")
LONGEST_RANKED = 128  # tokens of a candidate that are looked at
DISTRIBUTIONS = 256  # over the vocabulary, in memory at once: 150 MB for 150,000 tokens
ANY_LENGTH = 1024  # of a model that says no limit, such as T5's relative positions


def check_folder(path: Path) -> Mapping[str, Any]:
    """Return the configuration in a checkpoint's folder, or name the problem with the folder.

    Raises InvalidWeights.
    """
    try:
        about: Mapping[str, Any] = json.loads((path / "config.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
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
class DecodingState:
    """A batch that is being written: the cache, and the facts of each row."""

    cache: Any
    mask: Tensor
    first: Tensor | None = None  # logits that reading the prompt already gave
    read: Tensor | None = None  # what an encoder made of the prompt


@dataclass(frozen=True)
class ReadPrompt:
    """A prompt as the model reads it, its text, and what was done to make it fit."""

    ids: tuple[int, ...]
    text: str
    notes: tuple[str, ...] = ()
    is_shortened: bool = False

    @property
    def is_adapted(self) -> bool:
        """Tell whether messages were rearranged for the chat template."""
        return any(note in NOTES.values() for note in self.notes)


def _oldest_exchange(history: Sequence[Utterance]) -> int:
    """Return how many messages the oldest exchange has; 0 where it is the only one."""
    begins = [index for index, each in enumerate(history) if each.speaker == "partner" and index]
    return begins[0] if begins else 0


class Pretrained:
    """A language model, or an encoder with a decoder, that can be stepped in batches."""

    def __init__(
        self,
        path: Path,
        kind: Kind,
        prompt: Prompt,
        most_reply: int,
        where: torch.device,
        precision: str,
    ) -> None:
        about = check_folder(path)
        self.writes_on = _kind(path, kind, about) == "causal"
        self.model, self.tokenizer = _open(path, self.writes_on, where, PRECISIONS[precision])
        self.prompt = prompt
        self.longest, most = self._lengths(most_reply)
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
        """Device it computes on."""
        return torch.device(self.model.device)

    def _lengths(self, most_reply: int) -> tuple[int, int]:
        """Return the maximum tokens of a prompt and of a reply."""
        limits = (getattr(self.model.config, name, None) for name in LENGTHS)
        most = min((each for each in limits if isinstance(each, int)), default=ANY_LENGTH)
        reply = min(max(most_reply, LONGEST_RANKED), most // 2)
        return (most - reply - 1 if self.writes_on else most), reply

    def start(self, turns: Sequence[Turn]) -> DecodingState:
        """Read all prompts in one pass, padded on the left."""
        rows = [list(self.prompt_of(turn).ids) for turn in turns]
        width = max(map(len, rows))
        ids = torch.tensor([[self.ends[0]] * (width - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        ids, mask = ids.to(self.device), mask.to(self.device)
        if self.writes_on:
            more = self._positions((mask.cumsum(1) - 1).clamp(min=0)) | self._last_only
            output = self.model(input_ids=ids, attention_mask=mask, use_cache=True, **more)
            return DecodingState(output.past_key_values, mask, first=output.logits[:, -1])
        read = self.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        return DecodingState(None, mask, read=read)

    def step(self, state: DecodingState, tokens: Tensor) -> tuple[Tensor, DecodingState]:
        """Take one step; the first one of a language model was taken when the prompt was read."""
        if state.first is not None:
            return self._log_probs(state.first), replace(state, first=None)
        output, mask = self._continued(state, tokens[:, None])
        state = DecodingState(output.past_key_values, mask, read=state.read)
        return self._log_probs(output.logits[:, -1]), state

    def read_whole(self, state: DecodingState, tokens: Tensor, wanted: Tensor) -> Tensor:
        """Return what steps would say of whole replies: log-probabilities [rows, length]."""
        found = []
        if state.first is not None:
            found.append(self._log_probs(state.first).gather(1, wanted[:, :1].to(self.device)))
        left, targets = tokens[:, len(found) :], wanted[:, len(found) :].to(self.device)
        width = max(1, DISTRIBUTIONS // len(tokens))
        for begin in range(0, left.shape[1], width):
            output, mask = self._continued(state, left[:, begin : begin + width])
            state = DecodingState(output.past_key_values, mask, read=state.read)
            for index, logits in enumerate(output.logits.unbind(1), begin):
                found.append(self._log_probs(logits).gather(1, targets[:, index : index + 1]))
        return torch.cat(found, dim=1).cpu()

    def _continued(self, state: DecodingState, tokens: Tensor) -> tuple[Any, Tensor]:
        """Return the model's output for further tokens [rows, length], and the mask with them."""
        ids = self._own(tokens.to(self.device))
        if self.writes_on:
            mask = torch.cat([state.mask, torch.ones_like(ids)], dim=1)
            inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
            inputs |= self._positions(mask.cumsum(1)[:, -ids.shape[1] :] - 1)
        else:
            mask = state.mask
            read = _Read(last_hidden_state=state.read)
            inputs = {"decoder_input_ids": ids, "attention_mask": mask, "encoder_outputs": read}
        return self.model(past_key_values=state.cache, use_cache=True, **inputs), mask

    def select(self, state: DecodingState, rows: Tensor) -> DecodingState:
        """Return a state of these rows."""
        rows = rows.to(self.device)
        if state.cache is not None:
            state.cache.batch_select_indices(rows)
        return DecodingState(
            state.cache,
            state.mask[rows],
            None if state.first is None else state.first[rows],
            None if state.read is None else state.read[rows],
        )

    def _positions(self, indices: Tensor) -> dict[str, Tensor]:
        """Count from each row's own first token, where the model counts at all."""
        return {"position_ids": indices} if "position_ids" in self._taken else {}

    def _log_probs(self, logits: Tensor) -> Tensor:
        """Return log-probabilities of our ids: every way to end is the one end mark."""
        own = logits.float().log_softmax(1)[:, : self._size]
        ending = own.index_select(1, self._ending).logsumexp(1, keepdim=True)
        own = own.clone()
        own.index_fill_(1, self._unsaid, -torch.inf)
        marks = torch.full((len(own), SHIFT), -torch.inf, device=own.device)
        marks[:, END] = ending[:, 0]
        return torch.cat([marks, own], dim=1)

    def _own(self, tokens: Tensor) -> Tensor:
        start = getattr(self.model.config, "decoder_start_token_id", None)
        first = self.ends[0] if start is None else start
        own = (tokens - SHIFT).where(tokens >= SHIFT, self.ends[0])
        return own.where(tokens != START, first)

    def prompt_of(self, turn: Turn) -> ReadPrompt:
        """Return the prompt of a turn: the oldest exchanges go where it is too long.

        The persona and the last message stay; only where those two are too long is their
        beginning cut.
        """
        persona, history = turn
        clean = [self._plain(each) for each in persona]
        left = [replace(each, text=self._plain(each.text)) for each in history]
        dropped = 0
        found = self._read((clean, left))
        while len(found.ids) > self.longest and (more := _oldest_exchange(left)):
            left, dropped = left[more:], dropped + more
            found = self._read((clean, left))
        notes = found.notes
        if dropped:
            notes = (*notes, f"the oldest {dropped} messages were left out")
        if len(found.ids) > self.longest:
            notes = (*notes, f"the first {len(found.ids) - self.longest} tokens were cut")
        is_shortened = bool(dropped) or len(found.ids) > self.longest
        ids = found.ids[-self.longest :] or (self.ends[0],)
        return ReadPrompt(ids, found.text, notes, is_shortened)

    def _read(self, turn: Turn) -> ReadPrompt:
        if self.prompt.layout == "template":
            text, notes = self.prompt.rendered(turn, self._template)
            return ReadPrompt(
                tuple(self.tokenizer(text, add_special_tokens=False).input_ids), text, notes
            )
        if self.prompt.layout == "turns":
            persona, history = turn
            texts = [
                *(persona if self.prompt.shows_persona else ()),
                *(each.text for each in history),
            ]
            pieces = self.tokenizer(texts, add_special_tokens=False).input_ids if texts else []
            ids = [token for piece in pieces for token in [*piece, self.ends[0]]]
            return ReadPrompt(tuple(ids), "".join(f"{text}{self._end}" for text in texts))
        text = self.prompt.text(turn)
        ids = list(self.tokenizer(text).input_ids)
        own = ids[:-1] if self.writes_on and ids and ids[-1] in self.ends else ids
        return ReadPrompt(tuple(own), text)

    def _template(self, messages: Sequence[Mapping[str, str]]) -> str:
        return str(
            self.tokenizer.apply_chat_template(
                list(messages), tokenize=False, add_generation_prompt=True
            )
        )

    @cached_property
    def _end(self) -> str:
        return str(self.tokenizer.convert_ids_to_tokens(self.ends[0]))

    def _plain(self, text: str) -> str:
        """Remove text that the tokenizer would read as a mark of its own."""
        for mark in self._marks:
            text = text.replace(mark, " ")
        return text

    @cached_property
    def _marks(self) -> list[str]:
        added = self.tokenizer.get_added_vocab()
        return sorted({*self.tokenizer.all_special_tokens, *added}, key=len, reverse=True)

    def _ends(self) -> list[int]:
        """Return the tokens that end a reply: the end token, and with marks a new line as well."""
        named = [self.tokenizer.eos_token_id, self.model.generation_config.eos_token_id]
        found = [each for one in named for each in (one if isinstance(one, list) else [one])]
        if self.prompt.layout == "marks":
            pieces = enumerate(self.codec.words)
            found += [index for index, piece in pieces if piece and ("Ċ" in piece or "\n" in piece)]
        return list(dict.fromkeys(each for each in found if each is not None))

    @cached_property
    def _size(self) -> int:
        return len(self.tokenizer)

    @cached_property
    def _ending(self) -> Tensor:
        return torch.tensor(self.ends, device=self.device)

    @cached_property
    def _unsaid(self) -> Tensor:
        unsaid = sorted({*self.ends, *self.tokenizer.all_special_ids})
        return torch.tensor(unsaid, device=self.device)

    @cached_property
    def _taken(self) -> frozenset[str]:
        return frozenset(signature(self.model.forward).parameters)

    @cached_property
    def _last_only(self) -> dict[str, Any]:
        """Of a prompt only the last distribution is wanted: all of 64 can take gigabytes."""
        return {"logits_to_keep": 1} if "logits_to_keep" in self._taken else {}


class _Read(dict[str, Any]):
    """An encoder's output, as models take it: by name, and by index."""

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
        reason = str(error).strip() or type(error).__name__
        raise InvalidWeights(f"{path} cannot be opened: {reason.splitlines()[0]}") from error
    return model.to(where).eval(), tokenizer
