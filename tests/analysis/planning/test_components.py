"""Variance components: the analysis of variance where it is balanced, the truth where it is not."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.planning.components import ClusterSums, cluster_sums, clustered_mean


def test_a_balanced_crossed_table_has_its_analysis_of_variance() -> None:
    chance = np.random.default_rng(0)
    y = chance.normal(0, 2, (5, 1)) + chance.normal(0, 1, (1, 8)) + chance.normal(size=(5, 8))
    rater, item = np.indices(y.shape)
    found = clustered_mean(cluster_sums(y.ravel(), rater.ravel(), item.ravel()))
    raters = 8 * ((y.mean(axis=1) - y.mean()) ** 2).sum() / 4
    items = 5 * ((y.mean(axis=0) - y.mean()) ** 2).sum() / 7
    rest = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
    noise = (rest**2).sum() / 28
    assert float(found.rater) == pytest.approx((raters - noise) / 8)
    assert float(found.item) == pytest.approx((items - noise) / 5)
    assert float(found.noise) == pytest.approx(noise)
    assert float(found.variance) == pytest.approx((raters + items - noise) / 40)
    doubt = raters**2 / 4 + items**2 / 7 + noise**2 / 28
    assert float(found.df) == pytest.approx((raters + items - noise) ** 2 / doubt)


def test_components_of_a_table_with_gaps_are_right_in_the_mean() -> None:
    chance, many = np.random.default_rng(1), []
    for _ in range(400):
        who = np.argsort(chance.random((30, 12)), axis=1)[:, :3]
        value = chance.normal(0, 0.6, 12)[who] + chance.normal(0, 0.4, (30, 1))
        value = value + chance.normal(0, 1.0, value.shape)
        item = np.repeat(np.arange(30), 3)
        many.append(cluster_sums(value.ravel(), who.ravel(), item))
    found = clustered_mean(ClusterSums(*(np.array(each) for each in zip(*many, strict=True))))
    assert found.rater.mean() == pytest.approx(0.36, abs=0.03)
    assert found.noise.mean() == pytest.approx(1.0, abs=0.03)
    counted = 0.36 * found.sums.rater_pairs.mean() / 90**2 + 0.16 / 30 + 1.0 / 90
    assert found.variance.mean() == pytest.approx(counted, rel=0.06)


def test_values_without_clusters_have_the_variance_of_a_mean() -> None:
    value = np.array([1.0, 3.0, 4.0, 8.0])
    found = clustered_mean(cluster_sums(value, np.arange(4), np.arange(4)))
    assert float(found.variance) == pytest.approx(value.var(ddof=1) / 4)
    assert float(found.df) == 3


def test_several_ratings_of_an_item_by_one_rater_are_one() -> None:
    twice = clustered_mean(cluster_sums([1, 3, 5, 4], [0, 0, 1, 2], [0, 0, 0, 1]))
    once = clustered_mean(cluster_sums([2, 5, 4], [0, 1, 2], [0, 0, 1]))
    assert float(twice.mean) == float(once.mean)
    assert float(twice.variance) == float(once.variance)


def test_one_value_has_no_variance() -> None:
    assert float(clustered_mean(cluster_sums([2.0], [0], [0])).variance) == 0
