"""The package's own plots: all of them, or a smaller world."""

from __future__ import annotations

import pytest

from bertlab.datasets.stories import GrammarError, default_grammar


def test_a_smaller_world_has_its_plots_alone():
    small = default_grammar("savings", "fishing")
    assert sorted(plot.name for plot in small.plots) == ["fishing", "savings"]
    assert small is not default_grammar()
    with pytest.raises(GrammarError, match="there is no plot 'opera': choose among"):
        default_grammar("opera")
