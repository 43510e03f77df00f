"""A word's vector out of its characters, in PyTorch: twin of `bertlab.reference.character_cnn`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertlab.nn.functional import embedding, linear
from bertlab.nn.highway import Highway, highway
from bertlab.nn.parameters import split_numbered, split_parameters

PARTS = ("characters", "filters", "highways", "project")


def character_cnn(characters: Tensor, params: Mapping[str, Tensor]) -> Tensor:
    """Spell a word and make a vector of it: embed, convolve, take maxima, pass highways, project.

    A filter of width w looks at w characters at a time, once from each character of the word on; beyond the
    end it sees zeros. Its best match is its number.

    Parameters
    ----------
    characters : (..., C) integer tensor of rows of the character table; 0 where a word has ended. A word of
        zeros alone is padding: its filters find 0.
    params : the `state_dict` of `CharacterCNN`.

    Returns
    -------
    (..., D) float tensor.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, or a character has no row.

    References
    ----------
    Kim et al. 2016, sec. 3.2 and 3.3; with a projection: Jozefowicz et al. 2016, sec. 3.1, as in ELMo.
    """
    # Departs from ELMo, which fills each word up to 50 characters and lets its filters read the filling.
    part, words = split_parameters(params, PARTS), characters.reshape(-1, characters.shape[-1])
    real = (words != 0)[:, None]  # (N, 1, C)
    x = (embedding(words, part["characters"]["weight"]).transpose(1, 2)) * real  # (N, A, C)
    best = []
    for one in split_numbered(part["filters"]):
        longer = F.pad(x, (0, one["weight"].shape[-1] - 1))  # zeros behind the end
        scores = F.conv1d(longer, one["weight"], one["bias"])  # (N, f, C)
        highest = scores.masked_fill(~real, -torch.inf).max(dim=-1).values
        best.append(highest.where(real.any(-1), 0.0))  # (N, f)
    found = torch.relu(torch.cat(best, dim=-1))  # (N, F)
    for layer in split_numbered(part["highways"]):
        found = highway(found, layer)
    return linear(found, **part["project"]).reshape(*characters.shape[:-1], -1)


class CharacterCNN(nn.Module):
    """Word vectors from characters: any word has one, seen or not; see `character_cnn`.

    Parameters
    ----------
    n_characters : rows N of the character table, row 0 for "no character".
    d_character : width A of a character.
    filters : (width, number) of each kind of filter.
    n_highway : number of highway layers, 1 or more.
    d_model : width D of a word's vector.

    References
    ----------
    Peters et al. 2018, sec. 3.4. First weights: allenai/bilm-tf, training.py; those of the filters are
    PyTorch's own, since theirs, made for 2,048 of them, would leave a small model's words near zero.

    Examples
    --------
    >>> words = torch.tensor([[5, 6, 7, 0], [5, 0, 0, 0]])  # (N, C)
    >>> CharacterCNN(10, 4, [(1, 8), (3, 16)], 1, 32)(words).shape
    torch.Size([2, 32])
    """

    def __init__(
        self,
        n_characters: int,
        d_character: int,
        filters: Sequence[tuple[int, int]],
        n_highway: int,
        d_model: int,
    ) -> None:
        super().__init__()
        n_filters = sum(number for _, number in filters)
        self.characters = nn.Embedding(n_characters, d_character)
        self.filters = nn.ModuleList([nn.Conv1d(d_character, number, width) for width, number in filters])
        self.highways = nn.ModuleList([Highway(n_filters) for _ in range(n_highway)])
        self.project = nn.Linear(n_filters, d_model)
        nn.init.uniform_(self.characters.weight, -1, 1)
        nn.init.normal_(self.project.weight, std=n_filters**-0.5)
        nn.init.zeros_(self.project.bias)

    def forward(self, characters: Tensor) -> Tensor:
        """Map (..., C) characters to (..., D); a word that stands there twice is computed once."""
        words = characters.reshape(-1, characters.shape[-1])
        different, places = words.unique(dim=0, return_inverse=True)
        found = character_cnn(different, dict(self.named_parameters()))  # (N, D)
        return found[places].reshape(*characters.shape[:-1], -1)
