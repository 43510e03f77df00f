"""The two vocabularies of the shipped checkpoints: one trained on the corpus, one cut out of a published one.

``trained``: 8,192 pieces, by `bertlab.text.train_wordpiece`, from the training text alone.

``cut``: a BERT that starts from all-MiniLM-L6-v2 needs that one's pieces, the 30,522 of bert-base-uncased.
Half of them our text seldom uses, and each costs a row of the embedding and a column of the loss. They are
cut, and their words are spelled with shorter pieces. What is used fewer than 20 times goes: 15,523 are left,
and a word of the training text has 1.078 pieces instead of 1.061. The next step, 30 times, would save 2,263
more, which is 1 % of the work of a training step of 6 layers, and make the text 1 % longer.

Both depend on nothing but the training text: made again anywhere, they are the same to the letter, which
their checksums hold. A checkpoint carries its own vocabulary as vocab.txt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from _bert_corpus import FOLDER, training_documents
from bertlab import datasets
from bertlab.datasets.documents import Document
from bertlab.text import SPECIAL, WordPiece, train_wordpiece
from bertlab.text.normalisation import CharacterTable
from bertlab.text.shards import vocabulary_sha256
from bertlab.text.wordpiece_training import count_words

NAMES = ("trained", "cut")
SIZE = 8192  # of the trained one
LEAST = 20  # times that a piece must be used to be kept in the other
CHECKSUMS = {
    "trained": "ccd1b33207b6963559953d6093e64de04c22c52f066f98bba746eeed1b66dd8c",
    "cut": "40412beb7188cf42926b9106f1716db15f0c9cd3b1e82669283fd60ccdad5190",
}


class Cut(NamedTuple):
    """A part of a vocabulary."""

    tokenizer: WordPiece
    old_ids: NDArray[np.int64]  # (V,) what number each piece had; rising


def published() -> WordPiece:
    """The vocabulary of bert-base-uncased, which is that of all-MiniLM-L6-v2."""
    return WordPiece.from_file(datasets.load("bert-base-uncased-vocab").path("vocab.txt"))


def tokenizer(name: str, documents: Sequence[Document] | None = None) -> WordPiece:
    """Load one of the two vocabularies, or make it; [UNK] in a text is recognised as such.

    Parameters
    ----------
    name : "trained" or "cut".
    documents : from `training_documents`, if at hand.

    Raises
    ------
    ValueError
        If the vocabulary is not the one that all results are about.
    """
    path = FOLDER / f"{name}.txt"
    if not path.exists():
        texts = training_documents().documents if documents is None else documents
        sentences = [sentence for document in texts for sentence in document.sentences]
        if name == "trained":
            made = train_wordpiece(sentences, SIZE)
        else:
            made = cut(published(), count_words(sentences, CharacterTable(lowercase=True)), LEAST).tokenizer
        check(name, made)
        path.parent.mkdir(parents=True, exist_ok=True)
        made.save(path)
    loaded = WordPiece.from_file(path, recognise_special=True)
    check(name, loaded)
    return loaded


def check(name: str, made: WordPiece) -> None:
    """Refuse a vocabulary that is not the one of the shipped checkpoints."""
    if (found := vocabulary_sha256(made)) != CHECKSUMS[name]:
        raise ValueError(
            f"the vocabulary {name!r} has the checksum {found}, not {CHECKSUMS[name]}: the training text or "
            f"the code that makes it has changed; delete {FOLDER}, or set the new checksum and measure anew"
        )


def old_ids(vocab: WordPiece, whole: WordPiece) -> NDArray[np.int64]:
    """Say which number each piece has in the whole vocabulary: the rows of the published embedding to keep.

    Examples
    --------
    >>> old_ids(WordPiece([*SPECIAL, "b"]), WordPiece([*SPECIAL, "a", "b"])).tolist()
    [0, 1, 2, 3, 4, 6]
    """
    return np.array([whole.ids[piece] for piece in vocab.vocab])


def cut(whole: WordPiece, words: Mapping[str, int], least: int) -> Cut:
    """Keep what is used often, and single letters.

    Pieces are looked at from the longest to the shortest. One that is used fewer than `least` times goes, and
    its words are spelled anew with what is left, so that shorter pieces are counted for them, too. Letters,
    inside words or not, stay if they occur at all: no word becomes [UNK] that was none before.

    Parameters
    ----------
    whole : the vocabulary.
    words : clean words with their counts.
    least : uses that a piece must have.

    Examples
    --------
    >>> whole = WordPiece([*SPECIAL, "a", "b", "##b", "##c", "bc", "abc", "ab"])
    >>> cut(whole, {"abc": 1, "ab": 1, "b": 9}, least=2).tokenizer.vocab[5:]
    ['a', 'b', '##b', '##c', 'ab']
    """
    letters = {letter for word in words for letter in word}
    kept = {piece for piece in whole.vocab if len(_letters(piece)) > 1 or _letters(piece) in letters}
    kept |= set(SPECIAL)
    left = WordPiece([piece for piece in whole.vocab if piece in kept])
    for length in range(max(len(_letters(piece)) for piece in kept), 1, -1):
        uses = count_pieces(left, words)
        seldom = {
            piece
            for piece in left.vocab
            if len(_letters(piece)) == length and uses[piece] < least and piece not in SPECIAL
        }
        left = WordPiece([piece for piece in left.vocab if piece not in seldom])
    return Cut(left, old_ids(left, whole))


def _letters(piece: str) -> str:
    return piece.removeprefix("##") if len(piece) > 2 else piece


def count_pieces(vocab: WordPiece, words: Mapping[str, int]) -> Counter[str]:
    """How often each piece is used to spell words with their counts.

    Examples
    --------
    >>> count_pieces(WordPiece([*SPECIAL, "a", "##b"]), {"ab": 2, "a": 1, "c": 1}).most_common()
    [('a', 3), ('##b', 2), ('[UNK]', 1)]
    """
    uses: Counter[str] = Counter()
    for word, count in words.items():
        for i, _, _ in vocab.longest_matches(word):
            uses[vocab.vocab[i]] += count
    return uses
