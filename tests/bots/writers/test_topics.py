"""Topics, and the joint distribution of all words and of topic words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from sklearn.decomposition import LatentDirichletAllocation

from bots.text.tokens import STOP
from bots.writers.input_tokens import EncodedInput, codec_of
from bots.writers.topics import Lda, Topics, counts, jointly
from tests.bots.examples import demo


def found(frequent: int = 50) -> Topics:
    dialogues = demo("train")[:60]
    topics = Topics(codec_of(dialogues, 2, 0), Lda(5, 8, frequent, 0.01, 5))
    topics.fit(dialogues, seed=1)
    return topics


def test_inference_is_that_of_scikit_learn() -> None:
    topics = found()
    told = topics.beta.sum(0).nonzero()[:, 0].tolist()
    texts = [" ".join(turn.text for turn in each.turns) for each in demo("valid")[:12]]
    counted = [Counter(topics.codec.encode(text)) for text in texts]
    other = LatentDirichletAllocation(5, doc_topic_prior=0.2, mean_change_tol=1e-9)
    other.components_ = np.zeros((5, len(told)))
    other.exp_dirichlet_component_ = topics.beta[:, told].double().numpy()
    other.n_features_in_, other.doc_topic_prior_ = len(told), 0.2
    expected = other.transform(counts(counted, told).astype(float))
    rows = [list(each.elements()) for each in counted]
    assert topics.shares(rows).numpy() == pytest.approx(expected, abs=5e-3)


def test_neither_stop_words_nor_the_most_frequent_tell_a_topic() -> None:
    topics = found(frequent=50)
    best = {word for row in topics.best.tolist() for word in topics.codec.tokens(row)}
    said = Counter(
        token
        for each in demo("train")[:60]
        for turn in each.turns
        for token in topics.codec.encode(turn.text)
    )
    often = {topics.codec.tokens([token])[0] for token, _ in said.most_common(50)}
    assert not best & (STOP | often)
    assert len(best) > 8  # topics differ


def test_a_topics_own_words_have_that_topic() -> None:
    topics = found()
    asked = [EncodedInput((), (tuple(row),)) for row in topics.best.tolist()]
    ids, topical = topics.of(asked)
    assert ids.tolist() == topics.best.tolist()
    assert topical.all()
    _, topical = topics.of([EncodedInput((), ((topics.codec.size + 2,),))])
    assert not topical.any()


def test_too_little_data_is_told() -> None:
    topics = Topics(codec_of(demo("train")[:2], 1, 0), Lda(2, 5000, 0, 0.01, 1))
    with pytest.raises(ValueError, match="topic_words is 5000"):
        topics.fit(demo("train")[:2], seed=1)


def test_both_shares_have_one_normalizer() -> None:
    torch.manual_seed(1)
    of_all, of_topic = torch.randn(2, 6), torch.randn(2, 2)
    ids, topical = torch.tensor([[1, 4], [0, 2]]), torch.tensor([True, False])
    p = jointly(of_all, of_topic, ids, topical).exp()
    torch.testing.assert_close(p.sum(1), torch.ones(2))
    total = of_all[0].exp().sum() + of_topic[0].exp().sum()
    expected = of_all[0].exp() / total
    expected[[1, 4]] += of_topic[0].exp() / total
    torch.testing.assert_close(p[0], expected)
    torch.testing.assert_close(p[1], of_all[1].softmax(0))
