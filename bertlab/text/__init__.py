"""From raw text to tensors of ids."""

from bertlab.text.vocabulary import Vocabulary, pad

__all__ = ["Vocabulary", "pad"]
