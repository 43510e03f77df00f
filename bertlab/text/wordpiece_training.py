"""Training a WordPiece vocabulary: start from letters, and join the pair of pieces that is seen most often.

The loop is that of byte-pair encoding (Sennrich et al. 2016): count the pairs of neighbouring pieces in all
words, join the most frequent pair everywhere, add it to the vocabulary, repeat. BERT's own trainer was never
released; the Rust library `tokenizers` trains its WordPiece in this way, and so do we. (A true WordPiece, by
Schuster & Nakajima 2012, joins the pair that raises the likelihood most.)

Same vocabulary as the library's, but for one thing. Of two pairs seen equally often, both join the one whose
left piece has the smaller id, then the one whose right piece has. The library numbers the letters inside
words ("##a") in the order of a hash table, which differs from run to run, and so do some of its pieces. We
number them in the order of the alphabet: same texts, same vocabulary.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from operator import add

from bertlab.text.normalisation import CHUNK, CharacterTable
from bertlab.text.wordpiece import SPECIAL, WordPiece


def train_wordpiece(
    texts: Iterable[str],
    vocab_size: int,
    lowercase: bool = True,
    min_frequency: int = 2,
    limit_alphabet: int = 1000,
) -> WordPiece:
    """Find the pieces that the words of a corpus are made of.

    Parameters
    ----------
    texts : the corpus, in any portions that end between words.
    vocab_size : pieces wanted, the five special tokens and all letters among them. There are fewer if no
        pair is left that is seen often enough.
    lowercase : as uncased models do; accents go too.
    min_frequency : join only what is seen as often as this.
    limit_alphabet : keep so many letters, the most frequent ones; of equals, those that come first in
        Unicode. A letter that is not kept is left out of its words while training.

    Returns
    -------
    the tokenizer with its vocabulary: special tokens, letters, letters inside words, then pieces as they were
    found.

    Raises
    ------
    ValueError
        If the texts hold no word, or if `vocab_size` has no room for the letters.

    References
    ----------
    Sennrich et al. 2016, algorithm 1. Schuster & Nakajima 2012, sec. 3.

    Examples
    --------
    >>> tokenizer = train_wordpiece(["low lower lowest", "new newer newest"], vocab_size=25)
    >>> tokenizer.vocab[-6:]
    ['##we', 'lo', 'ne', '##st', '##wer', '##west']
    """
    words = count_words(texts, CharacterTable(lowercase))
    if not words:
        raise ValueError("the texts hold no word: give some text to train on")
    alphabet = letters(words, limit_alphabet)
    kept = frozenset(alphabet)
    spelled = [spell(word, kept) for word in words]
    inside = {piece for pieces in spelled for piece in pieces if piece.startswith("##")}
    vocab = [*SPECIAL, *alphabet, *sorted(inside)]
    if vocab_size < len(vocab):
        raise ValueError(
            f"vocab_size={vocab_size} has no room for {len(vocab)} special tokens and letters: choose "
            f"a larger one, or a smaller limit_alphabet than {limit_alphabet}"
        )
    join_pairs(vocab, spelled, list(words.values()), vocab_size, min_frequency)
    return WordPiece(vocab, lowercase)


def count_words(texts: Iterable[str], table: CharacterTable) -> Counter[str]:
    """Count the words of a corpus after cleaning.

    Each different chunk of raw text is cleaned once, however often it comes.

    Examples
    --------
    >>> count_words(["A rose is", "a Rosé."], CharacterTable())
    Counter({'a': 2, 'rose': 2, 'is': 1, '.': 1})
    """
    chunks: Counter[str] = Counter()
    for text in texts:
        chunks.update(re.findall(CHUNK, text))
    words: Counter[str] = Counter()
    for chunk, count in chunks.items():
        for word in chunk.translate(table).split():
            words[word] += count
    return words


def letters(words: Mapping[str, int], most: int) -> list[str]:
    """Return the most frequent letters of words with their counts, in Unicode's order.

    Examples
    --------
    >>> letters({"banana": 1, "bay": 2}, most=2)
    ['a', 'b']
    """
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for letter in word:
            counts[letter] += count
    return sorted(sorted(counts, key=lambda letter: (-counts[letter], letter))[:most])


def spell(word: str, alphabet: Collection[str]) -> list[str]:
    """Write a word in letters, those inside the word with "##"; what is not in the alphabet is left out.

    Examples
    --------
    >>> spell("low", "low")
    ['l', '##o', '##w']
    """
    return ["##" * (i > 0) + letter for i, letter in enumerate(word) if letter in alphabet]


def join_pairs(
    vocab: list[str], spelled: list[list[str]], frequencies: list[int], vocab_size: int, min_frequency: int
) -> None:
    """Join the most frequent pair of neighbours again and again, and append each new piece to the vocabulary.

    Parameters
    ----------
    vocab : special tokens and letters; grows.
    spelled, frequencies : the words in letters, and how often each word is seen.
    vocab_size, min_frequency : see `train_wordpiece`.
    """
    ids = {piece: i for i, piece in enumerate(vocab)}
    # Each piece is one character, chr(id), so a pair is a string of two, and str.replace joins it in a word.
    # Strings compare by their characters: of two equals in the heap, the pair with the smaller ids is on top.
    words = ["".join(chr(ids[piece]) for piece in pieces) for pieces in spelled]
    counts, where = count_pairs(words, frequencies)
    heap = [(-count, pair) for pair, count in counts.items()]
    heapq.heapify(heap)
    while heap and len(vocab) < vocab_size:
        seen, pair = heapq.heappop(heap)
        if -seen != counts[pair]:  # other pairs have taken some of its letters: back in line
            heapq.heappush(heap, (-counts[pair], pair))
            continue
        if -seen < min_frequency:
            break
        piece = "".join(vocab[ord(half)].removeprefix("##" * i) for i, half in enumerate(pair))
        if piece not in ids:  # it is there when "the" was th + e in one word and is t + he in another
            ids[piece] = len(vocab)
            vocab.append(piece)
        new_pairs = join(pair, chr(ids[piece]), words, frequencies, counts, where)
        for new_pair in new_pairs:
            heapq.heappush(heap, (-counts[new_pair], new_pair))


def count_pairs(words: list[str], frequencies: list[int]) -> tuple[Counter[str], dict[str, set[int]]]:
    """Count the pairs of neighbours in all words, and list the words that have each.

    Examples
    --------
    >>> counts, where = count_pairs(["low", "lot"], [3, 1])
    >>> counts["lo"], where["lo"]
    (4, {0, 1})
    """
    counts: Counter[str] = Counter()
    where: dict[str, set[int]] = defaultdict(set)
    for index, (word, frequency) in enumerate(zip(words, frequencies, strict=True)):
        for pair in map(add, word, word[1:]):
            counts[pair] += frequency
            where[pair].add(index)
    return counts, where


def join(
    pair: str,
    piece: str,
    words: list[str],
    frequencies: list[int],
    counts: Counter[str],
    where: dict[str, set[int]],
) -> set[str]:
    """Join a pair in all words that have it, keep the counts true, and return the pairs that came to be.

    Examples
    --------
    >>> words, frequencies = ["low", "lot"], [3, 1]
    >>> counts, where = count_pairs(words, frequencies)
    >>> sorted(join("lo", "L", words, frequencies, counts, where)), words, +counts
    (['Lt', 'Lw'], ['Lw', 'Lt'], Counter({'Lw': 3, 'Lt': 1}))
    """
    new_pairs = set()
    for index in where.pop(pair):
        word, frequency = words[index], frequencies[index]
        words[index] = word.replace(pair, piece)
        # Only what stands from one place before the first to one after the last of them changes its pairs.
        old = word[max(word.find(pair) - 1, 0) : word.rfind(pair) + 3]
        new = old.replace(pair, piece)
        for gone in map(add, old, old[1:]):
            counts[gone] -= frequency
        for here in map(add, new, new[1:]):
            counts[here] += frequency
            if piece in here:
                where[here].add(index)
                new_pairs.add(here)
    return new_pairs
