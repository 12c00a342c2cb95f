"""The encoder-decoder network, of evolved and of vanilla blocks."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bots import Utterance
from bots.text.vocabulary import START, WordCodec
from bots.writers.encoder_decoder import EncoderDecoder, Kind
from bots.writers.evolved import Convolution, EvolvedDecoderBlock, EvolvedEncoderBlock
from bots.writers.input_tokens import EncodedInput, Reading
from bots.writers.recurrent import select
from bots.writers.transformer import Pass, TransformerSizes

CODEC = WordCodec(tuple("abcdefgh"))
TURNS = [
    (("a b c",), (Utterance("partner", "d e f g"), Utterance("self", "h"))),
    ((), (Utterance("partner", "a"),)),
    (("h h h", "g"), (Utterance("partner", "b c d e f g a b c"),)),
]
SIZES = TransformerSizes(16, 4, 3, 64, 0.1)
kinds = pytest.mark.parametrize("kind", ["evolved", "vanilla"])


def network(kind: Kind) -> tuple[EncoderDecoder, list[EncodedInput]]:
    torch.manual_seed(0)
    made = EncoderDecoder(Reading(CODEC), SIZES, kind, encoders=2, branch_heads=8)
    for each in made.parameters():
        torch.nn.init.normal_(each, std=0.3)
    return made.eval(), [made.reading.encoded(turn) for turn in TURNS]


def replies(rows: int) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    drawn = torch.randint(4, CODEC.size, (rows, 15), generator=generator)  # longer than a kernel
    drawn[:, 0] = START
    return drawn


@kinds
@torch.inference_mode()
def test_stepping_with_a_cache_is_one_run_alone(kind: Kind) -> None:
    made, batch = network(kind)
    given = replies(3)
    state, steps = made.read(batch), []
    for place in range(given.shape[1]):
        log_probs, state = made.write(state, given[:, place : place + 1])
        steps.append(log_probs)
    stepped = torch.cat(steps, dim=1)
    together, _ = made.write(made.read(batch), given)
    assert torch.allclose(stepped, together, atol=1e-5)
    for row, one in enumerate(batch):
        alone, _ = made.write(made.read([one]), given[row : row + 1])
        assert torch.allclose(stepped[row], alone[0], atol=1e-5)


@kinds
@torch.inference_mode()
def test_selected_rows_go_on_where_they_were(kind: Kind) -> None:
    made, batch = network(kind)
    given, rows = replies(3), torch.tensor([2, 0, 2])
    full, _ = made.write(made.read(batch), given)
    _, state = made.write(made.read(batch), given[:, :9])
    log_probs, _ = made.write(select(state, rows), given[rows, 9:])
    assert torch.allclose(log_probs, full[rows, 9:], atol=1e-5)


@kinds
def test_later_tokens_change_nothing_before_them(kind: Kind) -> None:
    made, batch = network(kind)
    given = replies(1)
    other = given.clone()
    other[0, 6:] = 5
    one, two = (made.write(made.read(batch[:1]), each)[0][0] for each in (given, other))
    assert torch.allclose(one[:6], two[:6], atol=1e-6)
    assert not torch.allclose(one[6:], two[6:], atol=1e-3)


@kinds
def test_one_table_of_vectors_serves_encoder_decoder_and_output(kind: Kind) -> None:
    made, _ = network(kind)
    tables = [each for each in made.parameters() if CODEC.size in each.shape]
    assert not tables  # there is no output matrix; the table has the marks of speakers too
    assert made.tokens.weight.shape == (CODEC.size + 3, 16)


def test_the_blocks_are_as_wide_as_the_recipe_says() -> None:
    width, inner = 32, 128
    sizes = TransformerSizes(width, 4, 1, inner, 0.0)
    encoder, decoder = EvolvedEncoderBlock("e", sizes), EvolvedDecoderBlock("d", sizes, 16)
    assert shape(encoder.right) == (width, width // 2, 3, False)
    assert shape(encoder.after) == (inner, width // 2, 9, True)
    assert shape(decoder.left) == (width, 2 * width, 11, True)
    assert shape(decoder.right) == (width, width // 2, 7, True)
    assert shape(decoder.after) == (2 * width, width, 7, True)
    assert (decoder.first.heads, decoder.attention.heads) == (16, 4)


def shape(made: Convolution) -> tuple[int, int, int, bool]:
    """Return inputs, outputs, the kernel's size, and whether it is separable."""
    first = made.depth if made.depth is not None else made.point
    return first.in_channels, made.point.out_channels, made.size, made.depth is not None


def test_the_gated_unit_comes_first_and_is_added() -> None:
    torch.manual_seed(0)
    block = EvolvedEncoderBlock("e", TransformerSizes(8, 2, 1, 32, 0.0))
    for name, each in block.named_parameters():
        if not name.startswith(("values", "gates", "norms.0")):
            torch.nn.init.zeros_(each)
    x = torch.randn(1, 5, 8)
    normed = block.norms[0](x)
    gated = block.values(normed) * torch.sigmoid(block.gates(normed))
    assert torch.allclose(block(x, Pass()), x + gated, atol=1e-6)


def test_a_causal_convolution_sees_so_far_back_and_no_further() -> None:
    layer = Convolution("c", 4, 4, 7, separable=True, causal=True)
    x = torch.randn(1, 20, 4, requires_grad=True)
    layer(x, Pass())[0, 12].sum().backward()
    assert x.grad is not None
    seen = (x.grad[0].abs().sum(dim=1) > 0).nonzero()[:, 0].tolist()
    assert seen == list(range(6, 13))
