"""What a writing network is taught by, and that it steps as it was taught."""

from __future__ import annotations

import pytest
import torch

from bots import Utterance
from bots.generation.teacher_forcing import forced
from bots.text.vocabulary import END, PAD, WordCodec
from bots.writers.input_tokens import Reading
from bots.writers.network import Stepped, negative, teach
from bots.writers.recurrent import RecurrentSizes
from bots.writers.seq2seq import Seq2SeqNetwork

CODEC = WordCodec(("i", "sing", "you", "?"))
TURNS = [((), ()), (("i sing",), (Utterance("partner", "you sing ?"),))]
REPLIES = [(4, 5), (6, 5, 7, 4, 4)]


def network() -> Seq2SeqNetwork:
    torch.manual_seed(1)
    return Seq2SeqNetwork(Reading(CODEC), RecurrentSizes(6, 8, 2, 0.2), "general").eval()


def test_what_is_taught_at_once_is_what_is_asked_step_by_step() -> None:
    made = network()
    asked = [made.reading.encoded(turn) for turn in TURNS]
    with torch.inference_mode():
        wanted, log_probs = teach(made, list(zip(asked, REPLIES, strict=True)))
    assert wanted.tolist() == [[4, 5, END, PAD, PAD, PAD], [6, 5, 7, 4, 4, END]]
    rows = forced(Stepped(made), TURNS, REPLIES)
    said = log_probs.gather(2, wanted[:, :, None])[:, :, 0]
    for row, known in zip(said.tolist(), rows, strict=True):
        assert row[: len(known)] == pytest.approx(known, abs=1e-5)
    total = sum(sum(row) for row in rows)
    assert float(negative(wanted, log_probs)) == pytest.approx(-total / 9, abs=1e-5)


def test_losses_by_hand() -> None:
    wanted = torch.tensor([[4, END], [END, PAD]])
    log_probs = torch.arange(-20.0, 0).view(2, 2, 5)
    log_probs[1, 1] = 100  # padding is not looked at
    plain = -(log_probs[0, 0, 4] + log_probs[0, 1, END] + log_probs[1, 0, END]) / 3
    assert float(negative(wanted, log_probs)) == pytest.approx(float(plain))
    weighed = torch.tensor([9.0, 1.0, 2.0, 1.0, 0.5])
    total = 0.5 * log_probs[0, 0, 4] + 2 * (log_probs[0, 1, END] + log_probs[1, 0, END])
    assert float(negative(wanted, log_probs, weighed)) == pytest.approx(float(-total / 4.5))


def test_dropout_is_of_training_only() -> None:
    made = network()
    asked = [made.reading.encoded(TURNS[1])]
    one, other = made.read(asked), made.read(asked)
    torch.testing.assert_close(one, other)
    made.train()
    assert not torch.allclose(made.read(asked)["memory"], one["memory"])
