"""Do three tokenizers agree? Ours, the Rust library, and the Python code of the first BERT for PyTorch.

With the 30,522 pieces of bert-base-uncased, cased and uncased, on every line of English books, spoken and
written English, Wikipedia, English and Chinese sentences, questions with answers in three languages, and on
100,000 random strings. Against the library ids, pieces and offsets are compared, against the other one ids.
A line on which two differ is explained by a rule if they agree as soon as the characters that this rule is
about are gone from it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from transformers.models.bert.tokenization_bert_legacy import BasicTokenizer, WordpieceTokenizer

from bertlab import datasets
from bertlab.text import WordPiece
from bertlab.text.normalisation import NEWER, RECLASSED, category
from bertlab.training import run_arms, save_result

NAME = "tokenizer_agreement"
QUESTION = (
    "Does our tokenizer give the ids and offsets of the Rust library, and the ids of an independent one?"
)
CORPORA = ("books", "masc", "wikisplit", "tatoeba-eng-cmn", "xquad", "random")
RANDOM, SEED, MOST_EXAMPLES = 100_000, 0, 3


def lines(corpus: str) -> Iterator[str]:
    """Every line of a corpus; of tables every cell, of JSON every text in it, in whatever language."""
    if corpus == "random":
        yield from random_texts(RANDOM, random.Random(SEED))
        return
    data = datasets.load(corpus)
    for file in data.files:
        if file.endswith(".json"):
            yield from texts_in(json.loads(data.text(file)))
        elif data.card.columns:
            yield from itertools.chain.from_iterable(row.values() for row in data.records(file))
        else:
            yield from data.lines(file)


def texts_in(node: Any) -> Iterator[str]:
    """Every string inside nested lists and mappings."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for child in node.values() if isinstance(node, dict) else node:
            yield from texts_in(child)


def random_texts(n: int, rng: random.Random) -> Iterator[str]:
    """Strings of up to 40 characters, of six mixtures from everyday letters to all of Unicode."""
    everything = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    assigned = [char for char in everything if unicodedata.category(char) not in ("Cn", "Co")]
    kinds = {kind: [c for c in assigned if unicodedata.category(c)[0] == kind] for kind in "LMNPSZC"}
    accents = [c for c in assigned if c < "\u0530"]
    pieces = datasets.load("bert-base-uncased-vocab").lines("vocab.txt")
    pieces = [piece.removeprefix("##") for piece in pieces]
    east = [c for c in assigned if "\u3000" <= c <= "\u9fff" or "가" <= c <= "힣" or c >= "\U00020000"]
    for _ in range(n):
        source = rng.choice((everything, assigned, accents, pieces, east, rng.choice(list(kinds.values()))))
        mixed = (rng.choice(source if rng.random() < 0.8 else pieces) for _ in range(rng.randrange(41)))
        yield rng.choice(("", "", " ")).join(mixed)


def without(unwanted: Callable[[str], object]) -> Callable[[str], str]:
    """Take out the characters for which something is true."""
    return lambda text: "".join(char for char in text if not unwanted(char))


# What a rule is about, and how a text looks without it.
RULES_PYTHON: dict[str, Callable[[str], str]] = {
    "unassigned characters: it removes them": without(lambda char: unicodedata.category(char) == "Cn"),
    "characters newer than Unicode 8: it knows them": without(lambda c: NEWER.match(c) or c in RECLASSED),
    "a capital sigma at the end of a word: it writes the final form": lambda text: text.replace("Σ", "σ"),
    "U+2B820 to U+2B91F: it takes them for Chinese": without(lambda c: "\U0002b820" <= c <= "\U0002b91f"),
    "characters with another canonical form: it composes them": lambda text: unicodedata.normalize(
        "NFC", text
    ),
}
RULES_RUST: dict[str, Callable[[str], str]] = {
    "letters newer than this Python: it knows their lower case": RULES_PYTHON[
        "unassigned characters: it removes them"
    ],
    "marks that are not taken off, several in a row: it puts them in order": without(
        lambda char: unicodedata.combining(char) and category(char) != "Mn"
    ),
}


def explain(text: str, agree: Callable[[str], bool], rules: dict[str, Callable[[str], str]]) -> str:
    """Name the rules without which two tokenizers agree on a text: one, else all that concern it."""
    concerned = {name: rule for name, rule in rules.items() if rule(text) != text}
    for name, rule in concerned.items():
        if agree(rule(text)):
            return name
    for rule in concerned.values():
        text = rule(text)
    return " + ".join(concerned) if concerned and agree(text) else "unexplained"


def compare(arm: dict[str, Any], _: Path) -> dict[str, Any]:
    """Compare the three on one corpus."""
    vocab = datasets.load("bert-base-uncased-vocab").lines("vocab.txt")
    ours = WordPiece(vocab, lowercase=arm["lowercase"])
    rust = WordPiece(vocab, lowercase=arm["lowercase"], fast=True)
    basic = BasicTokenizer(do_lower_case=arm["lowercase"])
    cut = WordpieceTokenizer(ours.ids, unk_token="[UNK]")

    def python_ids(text: str) -> list[int]:
        return [ours.ids[piece] for word in basic.tokenize(text) for piece in cut.tokenize(word)]

    counts: Counter[str] = Counter()
    rules: dict[str, Counter[str]] = {"rust": Counter(), "python": Counter()}
    examples: dict[str, list[str]] = {}

    def differs(whom: str, text: str, rule: str) -> None:
        rules[whom][rule] += 1
        shown = examples.setdefault(f"{whom}: {rule}", [])
        if len(shown) < MOST_EXAMPLES:
            shown.append(ascii(text[:120]))

    for text in lines(arm["corpus"]):
        found = ours.encode(text)
        counts.update(lines=1, pieces=len(found.ids), unknown=found.ids.count(ours.unk_id))
        if found != rust.encode(text):
            differs("rust", text, explain(text, lambda t: ours.encode(t) == rust.encode(t), RULES_RUST))
        if [found.ids] != ours.encode_batch([text]):
            differs("rust", text, "our cache")  # never: both go the same way
        if found.ids != python_ids(text):
            rule = explain(text, lambda t: ours.encode(t).ids == python_ids(t), RULES_PYTHON)
            differs("python", text, rule)
    return {**counts, **{whom: dict(found) for whom, found in rules.items()}, "examples": examples}


def main() -> None:
    """Compare on all corpora, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    workers = parser.parse_args().workers
    arms = [{"corpus": corpus, "lowercase": lowercase} for corpus in CORPORA for lowercase in (True, False)]
    rows = run_arms(NAME, arms, compare, workers)
    seconds = sum(row.pop("seconds") for row in rows)
    libraries = {name: version(name) for name in ("tokenizers", "transformers")}
    results = {
        "libraries": {**libraries, "unicode": unicodedata.unidata_version},
        "random": {"strings": RANDOM, "seed": SEED},
        "arms": rows,
    }
    save_result(NAME, QUESTION, results, seconds)


if __name__ == "__main__":
    main()
