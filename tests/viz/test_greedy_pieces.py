"""Words cut into pieces: the rule of viz is that of bertlab.text, in Python and in the browser."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from bertlab.datasets.fables import fables
from bertlab.text import SPECIAL, WordPiece, train_wordpiece
from bertlab.text.normalisation import NEWER, RECLASSED
from bertlab.viz.greedy_pieces import clean_words, greedy_pieces
from bertlab.viz.widget import script

CALL = """async ([script, vocabulary, texts, lowercase]) => {
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const ids = module.idsOf(vocabulary);
  return texts.map((text) => module.greedyPieces(text, ids, "[UNK]", lowercase, 100));
}"""
HARD = [
    "",
    " \t\n",
    "Crème brûlée, 我爱NLP!",
    "ΣΑΣ İstanbul Straße ﬁn",
    "a\u200bb\u00adc\ufffdd",
    "x" * 100 + " " + "x" * 101,
    "👩\u200d🔬 שלום 한국 ごはん",
    "[CLS] it's $5.00… “quoted”",
    "##s s##",
    "\U00020000\U0002b900 a\U0001f600b",
]


@pytest.fixture(scope="module")
def tokenizers() -> list[WordPiece]:
    trained = train_wordpiece(fables(), 600)
    return [trained, WordPiece(trained.vocab, lowercase=False)]


@pytest.fixture
def texts(rng) -> list[str]:
    """Hard cases, fables, and random strings of characters that all tables class alike."""
    old = [c for c in map(chr, range(0x3000)) if unicodedata.category(c) != "Cn" and not NEWER.match(c)]
    old = [c for c in old if c not in RECLASSED]
    random = ["".join(rng.choice(old, 12)) + "the" + "".join(rng.choice(old, 3)) for _ in range(300)]
    return [*HARD, *fables()[:60], *random]


def found(words):
    return [(piece.piece, piece.id, (piece.start, piece.end)) for word in words for piece in word.pieces]


def test_same_pieces_ids_and_offsets_as_bertlab_text(tokenizers, texts):
    for tokenizer in tokenizers:
        for text in texts:
            encoding = tokenizer.encode(text)
            wanted = list(zip(encoding.tokens, encoding.ids, encoding.offsets, strict=True))
            assert found(greedy_pieces(text, tokenizer.ids, lowercase=tokenizer.lowercase)) == wanted, text


def test_what_is_looked_up_are_ever_shorter_beginnings_of_what_is_left():
    ids = {piece: i for i, piece in enumerate([*SPECIAL, "un", "##a", "##ble"])}
    able, unknown = greedy_pieces("unable unx", ids)
    assert able.tries == ["unable", "unabl", "unab", "una", "un", "##able", "##abl", "##ab", "##a", "##ble"]
    assert unknown.tries == ["unx", "un", "##x"]
    assert found([unknown]) == [("[UNK]", 1, (7, 10))]


def test_a_word_is_unknown_from_101_letters_on_and_nothing_is_looked_up():
    ids = {"[UNK]": 0, "x": 1, "##x": 2}
    short, long = greedy_pieces("x" * 100 + " " + "x" * 101, ids)
    assert len(short.pieces) == 100
    assert (long.pieces[0].piece, long.tries) == ("[UNK]", [])


def test_every_character_becomes_letters_of_its_own_place():
    for code in range(0, sys.maxunicode, 97):
        words = clean_words(f"a{chr(code)}", lowercase=True) if not 0xD800 <= code <= 0xDFFF else [[("a", 0)]]
        assert {place for word in words for _, place in word} <= {0, 1}


@pytest.mark.browser
def test_the_browser_cuts_as_python_does(blank_page, tokenizers, texts):
    for tokenizer in tokenizers:
        given = [script("greedy_pieces"), tokenizer.vocab, texts, tokenizer.lowercase]
        theirs = blank_page.page.evaluate(CALL, given)
        for text, cut in zip(texts, theirs, strict=True):
            mine = greedy_pieces(text, tokenizer.ids, lowercase=tokenizer.lowercase)
            wanted = [
                {"word": word, "pieces": [list(piece) for piece in pieces], "tries": tries}
                for word, pieces, tries in mine
            ]
            assert cut == wanted, text
