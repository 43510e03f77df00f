"""Claims about the small network for images: which layers move, which learn."""

from __future__ import annotations

import pytest
import torch

from bertlab.nn.small_cnn import SmallCNN


def some_networks() -> tuple[SmallCNN, SmallCNN]:
    torch.manual_seed(0)
    return SmallCNN(5), SmallCNN(5)


@pytest.mark.parametrize("n", range(6))
def test_the_lowest_layers_are_copied_and_the_others_stay(n: int) -> None:
    source, target = some_networks()
    before = {name: value.clone() for name, value in target.state_dict().items()}
    assert target.take_over(source, n) is target
    for name, value in target.state_dict().items():
        taken = SmallCNN.LAYERS.index(name.split(".")[0]) < n
        assert torch.equal(value, source.state_dict()[name] if taken else before[name])
    with torch.no_grad():
        target.conv1.weight += 1
    assert not torch.equal(target.conv1.weight, source.conv1.weight)  # a copy, not the same numbers


@pytest.mark.parametrize("n", range(5))
def test_frozen_layers_get_no_gradient(n: int) -> None:
    model = some_networks()[0].freeze(n)
    model(torch.randn(2, 8, 8)).square().sum().backward()
    learns = {layer: getattr(model, layer).weight.grad is not None for layer in SmallCNN.LAYERS}
    assert learns == {layer: i >= n for i, layer in enumerate(SmallCNN.LAYERS)}


def test_every_pixel_can_be_seen() -> None:
    images = torch.rand(1, 8, 8, requires_grad=True)
    some_networks()[0](images).square().sum().backward()
    assert (images.grad.abs() > 0).float().mean() > 0.9


def test_too_many_layers_and_an_output_of_another_size_are_refused() -> None:
    source, target = some_networks()[0], SmallCNN(2)
    target.take_over(source, 4)
    with pytest.raises(ValueError, match="layer output has 5 classes, not 2"):
        target.take_over(source, 5)
    with pytest.raises(ValueError, match="n=6 layers of 5"):
        target.freeze(6)
