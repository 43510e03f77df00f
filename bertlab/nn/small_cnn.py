"""A small convolutional network for 8 × 8 images, whose layers can move to another task one by one."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


class SmallCNN(nn.Module):
    """Three convolutions, a hidden layer and an output, for images of 8 × 8 numbers.

    Parameters
    ----------
    n_classes : rows of the output layer.

    References
    ----------
    LeCun et al. 1998, "Gradient-based learning applied to document recognition", sec. II: convolutions and
    pooling. Here with ReLU and the largest of four in place of tanh and the mean.

    Examples
    --------
    >>> import torch
    >>> model = SmallCNN(n_classes=5)
    >>> model(torch.zeros(3, 8, 8)).shape
    torch.Size([3, 5])
    >>> other = SmallCNN(n_classes=2).take_over(model, 4).freeze(2)
    >>> [layer for layer in other.LAYERS if getattr(other, layer).weight.requires_grad]
    ['conv3', 'hidden', 'output']
    """

    LAYERS = ("conv1", "conv2", "conv3", "hidden", "output")  # from low to high

    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, 32, 3, padding=1)
        self.hidden = nn.Linear(2 * 2 * 32, 64)
        self.output = nn.Linear(64, n_classes)

    def forward(self, images: Tensor) -> Tensor:
        """Map (B, 8, 8) images to (B, n_classes) logits."""
        x = F.relu(self.conv1(images[:, None]))  # (B, 16, 8, 8)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)  # (B, 32, 4, 4)
        x = F.max_pool2d(F.relu(self.conv3(x)), 2)  # (B, 32, 2, 2)
        x = F.relu(self.hidden(x.flatten(1)))  # (B, 64)
        logits: Tensor = self.output(x)
        return logits

    def take_over(self, other: SmallCNN, n: int) -> SmallCNN:
        """Copy the n lowest layers of another network, and return this one.

        Raises
        ------
        ValueError
            If there are not so many layers, or the last one would have to change its size.
        """
        for layer in self._lowest(n):
            mine, theirs = getattr(self, layer), getattr(other, layer)
            if mine.weight.shape != theirs.weight.shape:
                raise ValueError(
                    f"layer {layer} has {len(theirs.weight)} classes, not {len(mine.weight)}: keep it"
                )
            mine.load_state_dict(theirs.state_dict())
        return self

    def freeze(self, n: int) -> SmallCNN:
        """Keep the n lowest layers as they are from now on, and return this network.

        Raises
        ------
        ValueError
            If there are not so many layers.
        """
        for layer in self._lowest(n):
            getattr(self, layer).requires_grad_(False)
        return self

    def _lowest(self, n: int) -> tuple[str, ...]:
        if not 0 <= n <= len(self.LAYERS):
            raise ValueError(f"n={n} layers of {len(self.LAYERS)}: choose from 0 to {len(self.LAYERS)}")
        return self.LAYERS[:n]
