import pytest

from bertlab.datasets import DataDamaged, DataUnavailable, UnknownName, card


def test_a_reader_who_knows_no_names_of_ours_can_catch_them():
    with pytest.raises(ValueError, match="there is no data set"):
        card("nothing")
    assert issubclass(UnknownName, ValueError)
    assert issubclass(DataDamaged, ValueError)
    assert issubclass(DataUnavailable, OSError)


def test_one_kind_is_not_caught_as_another():
    kinds = (UnknownName, DataDamaged, DataUnavailable)
    assert not any(issubclass(one, other) for one in kinds for other in kinds if one is not other)
