"""How many words are unknown to a list of words, and to a list of pieces, when the training text grows?

English books, half of them to learn from and half to count on, for several random halves. Learnt from lines
of one half, with as many words as the arm says: a list of all its words, one of the 30,000 most frequent, and
8,192 pieces (fewer where the text has no more). Counted on the other half: the share of words that are
unknown, and pieces a word. Words are what BERT's cleaning leaves, punctuation among them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from bertlab import datasets
from bertlab.text import train_wordpiece
from bertlab.text.normalisation import CharacterTable
from bertlab.text.wordpiece_training import count_words
from bertlab.training import run_arms, save_result

NAME = "vocabulary_size"
QUESTION = "How many words are unknown to a list of words, and to pieces, when the training text grows?"
SEEDS = (0, 1, 2)
N_WORDS = (2_000, 20_000, 200_000, 2_000_000)
ENTRIES, PIECES, N_TEST_LINES = 30_000, 8_192, 20_000


def halves(seed: int) -> tuple[list[str], list[str]]:
    """Lines of one half of the books and of the other, chosen by chance, in random order."""
    books, rng = datasets.load("books"), np.random.default_rng(seed)
    files = [books.files[i] for i in rng.permutation(len(books.files))]

    def lines(half: list[str]) -> list[str]:
        found = [line for file in half for line in books.lines(file)]
        return [found[i] for i in rng.permutation(len(found))]

    return lines(files[: len(files) // 2]), lines(files[len(files) // 2 :])


def beginning(lines: list[str], n_words: int) -> list[str]:
    """Take as many lines as have so many words."""
    table, total = CharacterTable(), 0
    for number, line in enumerate(lines):
        total += sum(count_words([line], table).values())
        if total >= n_words:
            return lines[: number + 1]
    raise ValueError(f"the half has {total} words, fewer than {n_words}: ask for less")


def unknown(known: set[str], seen: Counter[str]) -> float:
    """Give the percentage of the words seen that are not known."""
    return 100 * sum(n for word, n in seen.items() if word not in known) / sum(seen.values())


def measure(arm: dict[str, Any], _: Path) -> dict[str, Any]:
    """Learn all three lists from one half, and count on the other."""
    first, second = halves(arm["seed"])
    lines, test = beginning(first, arm["n_words"]), second[:N_TEST_LINES]
    table = CharacterTable()
    learnt, seen = count_words(lines, table), count_words(test, table)
    cutter = train_wordpiece(lines, PIECES)
    ids = [i for line in cutter.encode_batch(test) for i in line]
    n = sum(seen.values())
    return {
        "different_words": len(learnt),
        "every_word": unknown(set(learnt), seen),
        "most_frequent": unknown({word for word, _ in learnt.most_common(ENTRIES)}, seen),
        "pieces": len(cutter),
        "pieces_unknown": 100 * ids.count(cutter.unk_id) / n,
        "pieces_a_word": len(ids) / n,
    }


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=2, help="processes side by side (default: 2)")
    arms = [{"n_words": n, "seed": seed} for n in N_WORDS for seed in SEEDS]
    rows = run_arms(NAME, arms, measure, parser.parse_args().workers)
    settings = {"entries": ENTRIES, "pieces": PIECES, "test_lines": N_TEST_LINES}
    seconds = sum(row["seconds"] for row in rows)
    save_result(NAME, QUESTION, {"arms": rows, "settings": settings}, seconds)


if __name__ == "__main__":
    main()
