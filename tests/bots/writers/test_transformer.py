"""Transformer blocks and the decoder-only network made of them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bots import Utterance
from bots.text.vocabulary import END, START, WordCodec
from bots.writers.causal import SELF, CausalNetwork, negative_of_context
from bots.writers.input_tokens import EncodedInput, Reading
from bots.writers.recurrent import select
from bots.writers.transformer import MultiHeadAttention, Pass, TransformerSizes, sinusoids

CODEC = WordCodec(tuple("abcdefgh"))
TURNS = [
    (("a b c",), (Utterance("partner", "d e f g"), Utterance("self", "h"))),
    ((), (Utterance("partner", "a"),)),
    (("h h h", "g"), (Utterance("partner", "b c d e f g a b c"),)),
]


def network() -> CausalNetwork:
    torch.manual_seed(0)
    made = CausalNetwork(Reading(CODEC), TransformerSizes(16, 4, 3, 32, 0.1), positions=64)
    for each in made.parameters():
        torch.nn.init.normal_(each, std=0.3)
    return made.eval()


def asked(made: CausalNetwork) -> list[EncodedInput]:
    return [made.reading.encoded(turn) for turn in TURNS]


def replies(rows: int) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    drawn = torch.randint(4, CODEC.size, (rows, 7), generator=generator)
    drawn[:, 0] = START
    return drawn


def uncached(made: CausalNetwork, one: EncodedInput, reply: Tensor) -> Tensor:
    """Run the blocks once over everything, with no past and no padding."""
    tokens = torch.cat((torch.tensor(one.flat), reply))[None]
    segments = torch.tensor([*made._segments(one), *[SELF] * len(reply)])[None]
    where = torch.arange(tokens.shape[1])[None]
    hidden = made._run(tokens, segments, where, Pass(causal=True))
    return made.log_probs(hidden)[0, len(one.flat) :]


@torch.inference_mode()
def test_stepping_with_a_cache_is_one_run_without_it() -> None:
    made = network()
    batch, given = asked(made), replies(3)
    state, steps = made.read(batch), []
    for place in range(given.shape[1]):
        log_probs, state = made.write(state, given[:, place : place + 1])
        steps.append(log_probs)
    stepped = torch.cat(steps, dim=1)
    at_once, _ = made.write(made.read(batch), given)
    for row, one in enumerate(batch):
        slow = uncached(made, one, given[row])
        assert torch.allclose(stepped[row], slow, atol=1e-5)
        assert torch.allclose(at_once[row], slow, atol=1e-5)


@torch.inference_mode()
def test_selected_rows_go_on_where_they_were() -> None:
    made = network()
    batch, given = asked(made), replies(3)
    _, state = made.write(made.read(batch), given[:, :3])
    rows = torch.tensor([2, 0, 2])
    log_probs, _ = made.write(select(state, rows), given[rows, 3:])
    for place, row in enumerate(rows.tolist()):
        assert torch.allclose(
            log_probs[place], uncached(made, batch[row], given[row])[3:], atol=1e-5
        )


def test_nothing_is_learned_from_what_comes_later_or_from_padding() -> None:
    made = network()
    tokens = torch.tensor([[4, 5, 6, 7, 8]])
    vectors = made.tokens(tokens).detach().requires_grad_()
    x = vectors
    for block in made.blocks:
        x = block(x, Pass(causal=True))
    x[0, 2].sum().backward()
    assert vectors.grad is not None
    reached = vectors.grad[0].abs().sum(dim=1)
    assert (reached[:3] > 0).all()
    assert (reached[3:] == 0).all()
    with torch.inference_mode():
        alone = [negative_of_context(made, [each]) for each in asked(made)]
        tokens_of = [len(each.flat) for each in asked(made)]
        together = negative_of_context(made, asked(made))
    weighed = sum(n * each for n, each in zip(tokens_of, alone, strict=True)) / sum(tokens_of)
    assert torch.isclose(together, torch.as_tensor(weighed), atol=1e-5)


def test_a_message_of_the_context_ends_where_the_next_begins() -> None:
    made = network()
    one = made.reading.encoded(TURNS[0])
    following = made.following([one])[0].tolist()
    words = [CODEC.encode(text) for text in ("a b c", "d e f g", "h")]
    assert following == [each for row in words for each in (*row, END)]


def test_marks_are_read_but_never_written() -> None:
    made = network()
    log_probs, _ = made.write(made.read(asked(made)), replies(3)[:, :1])
    assert log_probs.shape == (3, 1, CODEC.size)
    assert torch.allclose(log_probs.exp().sum(dim=2), torch.ones(3, 1), atol=1e-5)


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValueError, match="heads is 3, but must divide the width, 16"):
        MultiHeadAttention(16, 3, 0.0)


def test_fixed_positions_differ_and_are_as_printed() -> None:
    table = sinusoids(torch.arange(50), 8)
    assert table.shape == (50, 8)
    assert torch.allclose(table[1, 0], torch.tensor(1.0).sin())
    assert torch.allclose(table[0], torch.tensor([0.0] * 4 + [1.0] * 4))
    assert len({tuple(row) for row in table.tolist()}) == 50
    assert sinusoids(torch.arange(3), 7).shape == (3, 7)
