"""A product whose weights are kept in another order while nothing is learned."""

from __future__ import annotations

import copy

import torch

from bots.encoders.sru import Product


def test_it_is_the_plain_product() -> None:
    torch.manual_seed(0)
    product, x, biases = Product(40, 70), torch.randn(5, 3, 40), torch.randn(70)
    expected = x @ product.weight.T + biases
    torch.testing.assert_close(product(x, biases), expected)
    with torch.inference_mode():
        torch.testing.assert_close(product(x, biases), expected)
        torch.testing.assert_close(product(x), expected - biases, rtol=1e-5, atol=1e-5)
        assert product(x[:0]).shape == (0, 3, 70)


def test_weights_that_were_changed_are_used() -> None:
    torch.manual_seed(1)
    product, other, x = Product(40, 70), Product(40, 70), torch.randn(5, 40)
    with torch.inference_mode():
        product(x)
    twin = copy.deepcopy(product)
    product.load_state_dict(other.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(product(x), x @ other.weight.T)
        product.weight.mul_(2.0)
        torch.testing.assert_close(product(x), 2 * x @ other.weight.T)
        torch.testing.assert_close(twin(x), x @ twin.weight.T)
