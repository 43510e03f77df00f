"""From raw text to tensors of ids."""

from bertlab.text.inputs import Batch, Inputs, pad_batch, pair_inputs
from bertlab.text.vocabulary import Vocabulary, pad
from bertlab.text.wordpiece import SPECIAL, Encoding, WordPiece
from bertlab.text.wordpiece_training import train_wordpiece

__all__ = [
    "SPECIAL",
    "Batch",
    "Encoding",
    "Inputs",
    "Vocabulary",
    "WordPiece",
    "pad",
    "pad_batch",
    "pair_inputs",
    "train_wordpiece",
]
