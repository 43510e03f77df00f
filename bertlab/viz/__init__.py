"""Pictures and explorers: arrays and tokens in, no model known here.

`show(figure, alt=...)` is how a notebook displays a figure; explorers display themselves.
"""

from bertlab.viz.attentions import AttentionLayers
from bertlab.viz.charts import bars_with_spread, lines_with_spread
from bertlab.viz.diagrams import encoder_decoder_diagram, word_links
from bertlab.viz.distributions import histograms, softmax_bars
from bertlab.viz.embedding_sum import embedding_sum
from bertlab.viz.explorers import decoding_steps, softmax_temperature
from bertlab.viz.filled_blanks import filled_blanks
from bertlab.viz.grids import Matrix, matrices
from bertlab.viz.head_lines import head_lines
from bertlab.viz.head_maps import head_maps
from bertlab.viz.head_view import head_view
from bertlab.viz.heatmaps import Attention, attention_map, attention_maps
from bertlab.viz.image_grid import image_grid
from bertlab.viz.input_flow import input_flow
from bertlab.viz.learning_curves import learning_curve
from bertlab.viz.mask_explorer import mask_explorer
from bertlab.viz.mask_maps import influence_maps, mask_maps
from bertlab.viz.mask_paths import mask_paths
from bertlab.viz.masked_attention import masked_attention
from bertlab.viz.masked_tokens import masked_tokens
from bertlab.viz.masking_explorer import masking_explorer
from bertlab.viz.matrix_view import matrix_view
from bertlab.viz.model_view import model_view
from bertlab.viz.multi_head import multi_head_diagram
from bertlab.viz.neuron_view import neuron_view
from bertlab.viz.output import show
from bertlab.viz.payload import entropy
from bertlab.viz.piece_explorer import piece_explorer
from bertlab.viz.point_clouds import point_clouds
from bertlab.viz.position_clocks import position_clocks
from bertlab.viz.position_explorer import position_explorer
from bertlab.viz.position_table import position_table
from bertlab.viz.ranked_points import ranked_points
from bertlab.viz.scale_explorer import scale_explorer
from bertlab.viz.scaled_dot_product import qkv_diagram
from bertlab.viz.score_by_dimension import score_by_dimension
from bertlab.viz.scoreboard import Measured, scoreboard
from bertlab.viz.search_tree import search_tree
from bertlab.viz.seven_steps import seven_steps
from bertlab.viz.style import use_style
from bertlab.viz.thumbnails import all_heads
from bertlab.viz.trace import DecodingTrace
from bertlab.viz.transformer_diagram import transformer_diagram
from bertlab.viz.two_directions import two_directions
from bertlab.viz.vector_explorer import vector_explorer

__all__ = [
    "Attention",
    "AttentionLayers",
    "DecodingTrace",
    "Matrix",
    "Measured",
    "all_heads",
    "attention_map",
    "attention_maps",
    "bars_with_spread",
    "decoding_steps",
    "embedding_sum",
    "encoder_decoder_diagram",
    "entropy",
    "filled_blanks",
    "head_lines",
    "head_maps",
    "head_view",
    "histograms",
    "image_grid",
    "influence_maps",
    "input_flow",
    "learning_curve",
    "lines_with_spread",
    "mask_explorer",
    "mask_maps",
    "mask_paths",
    "masked_attention",
    "masked_tokens",
    "masking_explorer",
    "matrices",
    "matrix_view",
    "model_view",
    "multi_head_diagram",
    "neuron_view",
    "piece_explorer",
    "point_clouds",
    "position_clocks",
    "position_explorer",
    "position_table",
    "qkv_diagram",
    "ranked_points",
    "scale_explorer",
    "score_by_dimension",
    "scoreboard",
    "search_tree",
    "seven_steps",
    "show",
    "softmax_bars",
    "softmax_temperature",
    "transformer_diagram",
    "two_directions",
    "use_style",
    "vector_explorer",
    "word_links",
]
