"""hredGAN: noise gives different replies, the discriminator orders them; who learns from what."""

from __future__ import annotations

import pytest
import torch

from bots.candidates import ReplyCandidate
from bots.writers.input_tokens import Item
from bots.writers.network import teach
from bots.zoo.hredgan import HredGan
from bots.zoo.hredgan.adversary import Adversaries
from tests.bots.examples import HELLO, PERSONA, demo, trained


def bot(**options: object) -> HredGan:
    found = trained("hredgan", **options)
    assert isinstance(found, HredGan)
    return found


def batch(network: Adversaries) -> list[Item]:
    made = HredGan()
    return list(made.items(network, demo("valid"), 1))[:6]


def test_replies_come_ordered_by_the_discriminator() -> None:
    found = bot(samples=12, alpha=50.0)
    turn = (PERSONA, HELLO)
    listed = found.propose([turn])[0]
    assert len(listed) == 12
    trusted = found.trust([turn] * 12, listed)
    assert trusted == sorted(trusted, reverse=True)
    assert all(score <= 0 for score in trusted)


def test_a_reply_is_trusted_the_same_whatever_else_is_in_the_batch() -> None:
    found, turn = bot(samples=4), (PERSONA, HELLO)
    short, long = (ReplyCandidate(text, (), ()) for text in ("i like tea .", "i like tea . " * 9))
    (alone,) = found.trust([turn], [short])
    assert found.trust([turn] * 2, [short, long])[0] == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize("noise", ["utterance", "word"])
def test_more_noise_more_different_states(noise: str) -> None:
    torch.manual_seed(1)
    made = HredGan(noise=noise)  # type: ignore[arg-type]
    network = made.build(bot().model.codec)  # type: ignore[arg-type]
    network.eval()
    asked = [network.reading.encoded((PERSONA, HELLO))] * 2
    tokens = torch.ones(2, 3, dtype=torch.int64)
    same, _ = network.write(network.begin(asked, [4, 4]), tokens)
    other, state = network.write(network.begin(asked, [4, 5]), tokens)
    assert torch.allclose(same[0], same[1], atol=1e-5)
    assert not torch.allclose(other[0], other[1], atol=1e-3)
    assert torch.allclose(same[0], other[0], atol=1e-5)  # whatever else is in the batch
    assert state["step"].tolist() == [3, 3]


def test_each_learns_from_its_own_terms_only() -> None:
    torch.manual_seed(2)
    network = HredGan().build(bot().model.codec)  # type: ignore[arg-type]
    items = batch(network)
    wanted, log_probs = teach(network, items)
    context = network.read([asked for asked, _ in items])["context"]
    discriminator = list(network.discriminator.parameters())
    fooled = network.judged_written(log_probs, wanted, context, learn=False).sum()
    grads = torch.autograd.grad(
        fooled, [*discriminator, network.output.layer.weight], allow_unused=True, retain_graph=True
    )
    assert all(each is None for each in grads[:-1])
    assert grads[-1] is not None
    learned = network.judged(wanted, context).sum()
    grads = torch.autograd.grad(
        learned, [*discriminator, network.output.layer.weight], allow_unused=True
    )
    assert all(each is not None for each in grads[:-1])
    assert grads[-1] is None


def test_the_discriminator_learns_to_tell_words_in_order_from_words_by_lot() -> None:
    made = HredGan(epochs=5, patience=5, examples=80, held_out=0.0)
    made.train(demo("train"), seed=3)
    network = made.adversaries
    items = batch(network)
    asked = [each for each, _ in items]
    replies = [reply for _, reply in items]
    with torch.inference_mode():
        context = network.begin(asked, None)["context"]
        tokens = [torch.tensor([reply]) for reply in replies]
        real = [network.judged(t, context[k : k + 1]).item() for k, t in enumerate(tokens)]
        lot = torch.Generator().manual_seed(1)
        mixed = [
            torch.randint(4, network.reading.codec.size, each.shape, generator=lot)
            for each in tokens
        ]
        false = [network.judged(t, context[k : k + 1]).item() for k, t in enumerate(mixed)]
    assert sum(real) > sum(false)
