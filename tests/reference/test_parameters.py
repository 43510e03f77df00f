"""Names, shapes and first values of parameters in the reference wing."""

import numpy as np
import pytest

from bertlab.nn import Decoder, Encoder
from bertlab.reference.decoder import decoder_shapes
from bertlab.reference.encoder import encoder_shapes
from bertlab.reference.parameters import initial_parameters, join_parameters, split_parameters
from tests.stacks import NormFirst


@NormFirst
@pytest.mark.parametrize(("shapes", "stack"), [(encoder_shapes, Encoder), (decoder_shapes, Decoder)])
def test_names_and_shapes_are_those_of_the_state_dict(shapes, stack, norm_first):
    theirs = {
        name: tuple(p.shape) for name, p in stack(11, 8, 2, 12, norm_first=norm_first).state_dict().items()
    }
    assert shapes(11, 8, 12, norm_first) == theirs


def test_joining_undoes_splitting():
    params = {"inner.weight": np.ones(2), "outer.norm.bias": np.zeros(2)}
    assert join_parameters(split_parameters(params, ("inner", "outer"))) == params


def test_first_values_are_xavier_zero_and_one(rng):
    params = initial_parameters(encoder_shapes(1, 30, 60, norm_first=True), rng)
    for name, value in params.items():
        if value.ndim == 2:
            bound = np.sqrt(6 / sum(value.shape))
            assert (np.abs(value) <= bound).all()
            np.testing.assert_allclose(value.std(), bound / np.sqrt(3), rtol=0.1)  # of a uniform number
        else:
            assert (value == name.endswith("norm.weight")).all()


def test_one_seed_gives_one_start():
    shapes = encoder_shapes(1, 4, 6)
    one, same, other = (initial_parameters(shapes, np.random.default_rng(seed)) for seed in (1, 1, 2))
    for name in (name for name in shapes if len(shapes[name]) == 2):
        np.testing.assert_array_equal(one[name], same[name])
        assert not np.allclose(one[name], other[name])
