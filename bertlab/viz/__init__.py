"""Pictures and explorers: arrays and tokens in, no model known here.

`show(figure, alt=...)` is how a notebook displays a figure; explorers display themselves.
"""

from bertlab.viz.charts import bars_with_spread, learning_curve, lines_with_spread
from bertlab.viz.diagrams import encoder_decoder_diagram, qkv_diagram, word_links
from bertlab.viz.distributions import entropy, histograms, softmax_bars
from bertlab.viz.grids import Matrix, matrices
from bertlab.viz.heatmaps import Attention, attention_map, attention_maps
from bertlab.viz.style import show, use_style

__all__ = [
    "Attention",
    "Matrix",
    "attention_map",
    "attention_maps",
    "bars_with_spread",
    "encoder_decoder_diagram",
    "entropy",
    "histograms",
    "learning_curve",
    "lines_with_spread",
    "matrices",
    "qkv_diagram",
    "show",
    "softmax_bars",
    "use_style",
    "word_links",
]
