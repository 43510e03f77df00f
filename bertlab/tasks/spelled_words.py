"""Any text for an ELMo of characters: each word of the text gets a number, and each number its spelling.

An ELMo that spells its words has no list of them. All else here (stretches of running text, features, probes)
reads ids. So the words of the texts at hand are listed, and the list is no part of the model: another text
has another list, and a word gets the same vector in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from bertlab.nn.elmo import ELMo, ELMoOutput
from bertlab.tasks.elmo_features import elmo_states
from bertlab.tasks.entities import TaggedSentence
from bertlab.text.characters import word_characters
from bertlab.text.normalisation import CharacterTable
from bertlab.text.wordpiece import SPECIAL, WordPiece
from bertlab.text.wordpiece_training import count_words


def whole_words(texts: Iterable[str], fast: bool = False) -> WordPiece:
    """List all words of some texts, with their capitals, as a tokenizer that cuts none of them.

    Words end where BERT's do: at spaces and marks, and each mark is a word.

    Parameters
    ----------
    texts : all that the tokenizer shall read.
    fast : as in `WordPiece`.

    Examples
    --------
    >>> tokenizer = whole_words(["A dog barks.", "Dogs don't."])
    >>> tokenizer.encode("Dogs don't bark.").tokens  # a word that is not in the list is unknown
    ['Dogs', 'don', "'", 't', '[UNK]', '.']
    """
    found = count_words(texts, CharacterTable(lowercase=False))
    return WordPiece([*SPECIAL, *sorted(found)], lowercase=False, fast=fast)


class SpelledELMo(nn.Module):
    """An ELMo of characters that reads ids of words.

    Parameters
    ----------
    elmo : the model.
    words : their tokenizer, from `whole_words`. Each word is spelled up to its first 48 bytes.

    Raises
    ------
    ValueError
        If the model reads ids itself.

    Examples
    --------
    >>> from bertlab.nn import ELMoConfig
    >>> elmo = ELMo(ELMoConfig(vocab_size=9, d_model=8, d_memory=8, filters=((1, 4), (3, 4)), n_highway=1))
    >>> words = whole_words(["They play."])
    >>> ids = torch.tensor([[words.cls_id, *words.encode("They play.").ids, words.sep_id]])
    >>> [tuple(layer.shape) for layer in SpelledELMo(elmo, words)(ids).layers]
    [(1, 5, 16), (1, 5, 16), (1, 5, 16)]
    """

    spellings: Tensor

    def __init__(self, elmo: ELMo, words: WordPiece) -> None:
        super().__init__()
        if not elmo.config.n_characters:
            raise ValueError("this ELMo has a table of ids and spells nothing: give it its ids")
        self.elmo, self.pad_id = elmo, words.pad_id
        spelled = torch.from_numpy(word_characters(words.vocab, cut=True))  # (V, C)
        self.register_buffer("spellings", spelled, persistent=False)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> ELMoOutput:
        """Read (B, T) ids as `ELMo.forward` reads their characters; each different word is spelled once."""
        mask = ids != self.pad_id if mask is None else mask
        different, places = ids.unique(return_inverse=True)
        spelled = self.spellings[different]  # (N, C)
        longest = int((spelled != 0).sum(-1).max())
        vectors = self.elmo.embeddings(spelled[:, :longest])  # (N, D)
        return ELMoOutput(self.elmo.layers(vectors[places], mask))


def spelled_states(
    elmo: ELMo, sentences: Sequence[TaggedSentence], max_length: int = 512, batch_size: int = 32
) -> list[Tensor]:
    """Read sentences once with an ELMo of characters, and keep what every layer says of each word.

    Parameters
    ----------
    elmo, sentences : the model, and what it reads; a word that holds marks is read in parts.
    max_length : of a sentence, in such parts; what is longer is cut.
    batch_size : sentences read at a time.

    Returns
    -------
    as `elmo_states`: for each sentence (L + 1, W, 2D) in float16.
    """
    words = whole_words(word for one in sentences for word in one.words)
    return elmo_states(SpelledELMo(elmo, words), words, sentences, max_length, batch_size=batch_size)
