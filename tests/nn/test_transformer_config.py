"""Claims about the sizes of a Transformer: counted by formula, held against the module and the paper."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.nn import Transformer, TransformerConfig

SMALL = TransformerConfig(source_vocab=11, target_vocab=11, d_model=8, n_heads=2, d_ff=12, n_layers=2)

configs = st.builds(
    TransformerConfig,
    source_vocab=st.integers(2, 9), target_vocab=st.just(7), d_model=st.sampled_from([4, 6]),
    n_heads=st.sampled_from([1, 2]), d_ff=st.integers(1, 9), n_layers=st.integers(1, 3),
    norm_first=st.booleans(), positions=st.sampled_from(["sinusoidal", "learned", "none"]),
    share_embeddings=st.sampled_from(["target", "none"]), max_length=st.integers(1, 9),
)  # fmt: skip


@given(config=configs, share_all=st.booleans())
def test_the_formula_counts_what_the_module_has(config, share_all):
    if share_all:
        config = replace(config, source_vocab=7, share_embeddings="all")
    model = Transformer(config)
    assert config.n_parameters == sum(p.numel() for p in model.parameters())  # a shared one counts once


def test_the_published_sizes_are_within_3_percent_of_the_papers_65_and_213_million():
    base, big = TransformerConfig.base(), TransformerConfig.big()
    assert (base.n_parameters, big.n_parameters) == (63_082_496, 214_245_376)
    assert base.n_parameters == pytest.approx(65e6, rel=0.03)
    assert big.n_parameters == pytest.approx(213e6, rel=0.03)
    assert (base.d_model, base.n_heads, base.d_ff, base.n_layers, base.dropout) == (512, 8, 2048, 6, 0.1)
    assert (big.d_model, big.n_heads, big.d_ff, big.n_layers, big.dropout) == (1024, 16, 4096, 6, 0.3)


def test_no_single_vocabulary_gives_both_65_and_213_million():
    def rounds_to(make, millions):
        return {v for v in range(30_000, 45_000) if round(make(v).n_parameters / 1e6) == millions}

    base, big = rounds_to(TransformerConfig.base, 65), rounds_to(TransformerConfig.big, 213)
    assert (min(base), max(base)) == (39_769, 41_721)
    assert (min(big), max(big)) == (35_296, 36_272)
    assert not base & big


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_heads": 3}, "d_model=8 .*3 heads"),
        ({"n_heads": 0}, "0 heads"),
        ({"n_layers": 0}, "n_layers=0"),
        ({"d_ff": 0}, "d_ff=0"),
        ({"max_length": 0}, "max_length=0"),
        ({"source_vocab": 0, "share_embeddings": "none"}, "source_vocab=0"),
        ({"dropout": 1.0}, r"dropout=1\.0"),
        ({"attention_dropout": -0.1}, r"attention_dropout=-0\.1"),
        ({"activation": "tanh"}, "'tanh'.*relu"),
        ({"positions": "rotary"}, "'rotary'.*sinusoidal"),
        ({"share_embeddings": "some"}, "'some'.*target"),
        ({"target_vocab": 12}, "11 source and 12 target"),
    ],
)
def test_a_config_that_makes_no_model_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        replace(SMALL, **changes)


def test_a_published_size_can_be_changed():
    config = TransformerConfig.big(500, n_layers=2, norm_first=True)
    assert (config.source_vocab, config.n_layers, config.norm_first, config.d_model) == (500, 2, True, 1024)
