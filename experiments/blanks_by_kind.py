"""Where does counting win, and where BERT? The blanks of the exams, by what is hidden.

The questions are those of `masked_ngrams` and `bert_checkpoints`, with all chosen pieces hidden. They are
parted by the piece that is asked for: one of the hundred most frequent of the training text; another whole
word; a piece of a word that the vocabulary cuts. Each BERT is asked beside the n-grams in its own vocabulary.
With this the cards of the checkpoints are written.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tqdm import tqdm

from _bert_answers import fill, questions, shown
from _bert_card import card
from _bert_corpus import shards
from _bert_held_out import SETS, Answered, Answers, Question, Scores, answered, difference, summary
from _bert_vocabulary import tokenizer
from _ngrams import BORDER, one_row
from _two_sided import TwoSided
from bertlab.interop import load_bert
from bertlab.interop.checkpoint_folders import CHECKPOINTS
from bertlab.nn import BertForPreTraining
from bertlab.text import WordPiece
from bertlab.text.masked_lm import Bools, Ids
from bertlab.training import load_result, save_result

NAME = "blanks_by_kind"
QUESTION = "Which blanks does a BERT fill better than counting does, and which worse?"
VOCABULARIES = {"bert-mini": "trained", "bert-6l": "cut"}
FREQUENT = 100  # pieces

Parts = dict[str, Callable[[Question, Answers], Bools]]


def parts(vocab: WordPiece, row: Ids) -> Parts:
    """Say for each kind which hidden pieces are of it; every piece is of one kind.

    Parameters
    ----------
    vocab : the tokenizer.
    row : the training text, from `one_row`.
    """
    counts = np.bincount(row[row != BORDER], minlength=len(vocab))
    frequent = np.zeros(len(vocab), dtype=bool)
    frequent[np.argsort(-counts, kind="stable")[:FREQUENT]] = True
    goes_on = np.array([piece.startswith("##") for piece in vocab.vocab])

    def cut(question: Question, answers: Answers) -> Bools:
        text = shown(question, answers).ids.reshape(-1)
        inside: Bools = goes_on[answers.pieces] | goes_on[text[question.positions + 1]]  # [SEP] ends all
        return inside

    def often(question: Question, answers: Answers) -> Bools:
        whole: Bools = frequent[answers.pieces] & ~cut(question, answers)
        return whole

    def other(question: Question, answers: Answers) -> Bools:
        return ~often(question, answers) & ~cut(question, answers)

    return {"frequent pieces": often, "other whole words": other, "pieces of cut words": cut}


def measured(name: str) -> dict[str, Any]:
    """Examine a BERT and the n-grams of its vocabulary, by held-out set and kind."""
    kind = VOCABULARIES[name]
    vocab = tokenizer(kind)
    row = one_row(shards(kind, vocab))
    weights = np.array(load_result("masked_ngrams")[kind]["guesses"]["weights"])
    model, _ = load_bert(name, BertForPreTraining)
    counting: Scores = partial(TwoSided(row, vocab).scores, weights=weights)
    bert = fill(model.eval())
    found: dict[str, Any] = {}
    for held_out in tqdm(SETS, desc=f"{NAME}, {name}"):
        asked = questions(held_out, "hidden", vocabulary=kind)
        counted, filled = answered(asked, counting), answered(asked, bert)
        of_set = found[held_out] = {"all": compared(counted, filled)}
        for part, is_of in parts(vocab, row).items():
            chosen = np.concatenate([is_of(*pair) for pair in asked])
            of_set[part] = compared(counted.of(chosen), filled.of(chosen))
    return found


def compared(counted: Answered, filled: Answered) -> dict[str, Any]:
    """Give the results of both, and what the second is better by."""
    return {
        "counting": summary(counted),
        "bert": summary(filled),
        "bert minus counting": difference(filled, counted),
    }


def main() -> None:
    """Examine both, then write the record and the cards."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    results = {name: measured(name) for name in VOCABULARIES}
    save_result(NAME, QUESTION, results, sum(os.times()[:4]))
    checkpoints, counted = load_result("bert_checkpoints"), load_result("masked_ngrams")
    for name, kinds in results.items():
        text = card(name, checkpoints[name], counted[VOCABULARIES[name]]["guesses"], kinds)
        (CHECKPOINTS / name / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
