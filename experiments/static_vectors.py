"""What do word vectors of before 2018 bring, and what can they not tell apart? All trained on one text.

The neural language model of 2003, CBOW, skip-gram and GloVe, of 50 numbers a word, on the text that the
shipped checkpoints have read (4.7 million words). Beside them: vectors that are drawn, vectors that are
counted (PPMI and singular values), and the published GloVe (50 numbers, 6 billion words, cut to its 20,000
most frequent words). Windows are five words wide for all; all else is as `bertlab.training` has it, but for
epochs, of which the budget allows four and ten. Nothing was tuned, but what a task's own validation part
chooses. A softmax over all words makes the neural model too slow for all text: it reads every eighth
sentence, three times (after once, in larger batches, it was still worse than pairs of words counted, and its
vectors were those that were drawn); a skip-gram that read no more text is there to compare with.

- words: relations, similarity as people judge it, kinds of things, among the words that all have;
- features: sentiment, entailment and names, beside counting words (TF-IDF, a conditional random field);
- senses: of a word in its sentence, by its own row and by the rows around it;
- "play": to which part of life do its neighbours belong, beside words that are as frequent;
- one row for two words: 40 pairs of words are written as one in half of their places.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from _counted_vectors import counted_vectors, random_vectors
from _fine_tuned import parts_of
from _mixed_words import chosen_pairs, pseudo_words, where_they_lie
from _next_word import KNOWN, surprises
from _plain_baselines import baselines
from _play_neighbours import by_hand, neighbourhood
from _static_summary import summary
from _vector_features import FEW, beside_counting, classified, names, windows, with_few, word_table
from _vector_senses import SETS, contexts, contextual, our_sentences, told, told_by_counting, told_in_ours
from _vector_tests import JUDGED, kinds, relations, similarities
from _word_text import held_out_corpora, some_sentences, word_corpus
from bertlab.interop.word_vectors import load_vectors
from bertlab.text import Vectors, WordCorpus
from bertlab.text.word_corpus import split_words
from bertlab.training import (
    GloVeConfig,
    NNLMConfig,
    Word2VecConfig,
    run_arms,
    save_result,
    train_glove,
    train_nnlm,
    train_word2vec,
)
from bertlab.training.memory import keep_freed_memory

NAME = "static_vectors"
QUESTION = "What do word vectors bring to a task, and what can one row a word not tell apart?"
D_MODEL, WINDOW, EPOCHS, GLOVE_EPOCHS, EIGHTH, NNLM_EPOCHS = 50, 5, 4, 10, 8, 3
PUBLISHED = "glove-6b-50d-top20k"
SEEDS = (0, 1, 2)
ONCE = ("published", "counted", "skip-gram, an eighth", "skip-gram, window 2")
BESIDE = ("counting", "all-MiniLM-L6-v2", "pseudo-words")
ARMS = [(model, 0) for model in (*BESIDE, *ONCE)]
ARMS += [(model, seed) for seed in SEEDS for model in ("drawn", "skip-gram", "cbow", "glove")]
ARMS += [("nnlm, an eighth", 0)]  # the slowest comes last
SHOWN = ("play", "bank", "spring", "seal")


@cache
def shared_words() -> tuple[str, ...]:
    """The words that our text and the published vectors have."""
    published = load_vectors(PUBLISHED)
    return tuple(word for word in word_corpus().words if word in published)


def eighth(corpus: WordCorpus) -> WordCorpus:
    """Every eighth sentence, and all words."""
    return some_sentences(corpus, np.arange(0, len(corpus.borders) - 1, EIGHTH))


def skip_gram(corpus: WordCorpus, seed: int, **other: Any) -> Vectors:
    """Train skip-gram, or CBOW."""
    settings = {"d_model": D_MODEL, "window": WINDOW, "epochs": EPOCHS, "seed": seed, **other}
    return train_word2vec(corpus, Word2VecConfig(**settings)).vectors


def glove(corpus: WordCorpus, seed: int) -> Vectors:
    """Train GloVe."""
    config = GloVeConfig(d_model=D_MODEL, window=WINDOW, epochs=GLOVE_EPOCHS, seed=seed)
    return train_glove(corpus, config).vectors


MAKERS: dict[str, Callable[[int], Vectors]] = {
    "skip-gram": lambda seed: skip_gram(word_corpus(), seed),
    "cbow": lambda seed: skip_gram(word_corpus(), seed, model="cbow"),
    "glove": lambda seed: glove(word_corpus(), seed),
    "drawn": lambda seed: random_vectors(word_corpus().words, D_MODEL, seed),
    "skip-gram, window 2": lambda seed: skip_gram(word_corpus(), seed, window=2),
    "skip-gram, an eighth": lambda seed: skip_gram(eighth(word_corpus()), seed),
    "counted": lambda seed: counted_vectors(word_corpus(), D_MODEL),
    "published": lambda seed: load_vectors(PUBLISHED),
}


def measure(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Make the vectors of one arm, and ask them everything."""
    keep_freed_memory()
    model, seed = arm["model"], arm["seed"]
    if model == "counting":
        return counting()
    if model == "all-MiniLM-L6-v2":
        return contextual()
    if model == "pseudo-words":
        return mixed(path)
    if model == "nnlm, an eighth":
        vectors, more = neural(seed, path)
        return judged(vectors, seed) | more
    file = path.with_suffix(".npz")
    if not file.exists():
        MAKERS[model](seed).save(file)
    return judged(Vectors.load(file), seed)


def neural(seed: int, path: Path) -> tuple[Vectors, dict[str, Any]]:
    """Train the neural language model; how surprised it is at held-out text."""
    whole = word_corpus()
    part = eighth(whole)
    config = NNLMConfig(d_model=D_MODEL, n_context=KNOWN, batch_size=256, epochs=NNLM_EPOCHS, seed=seed)
    model, trained = train_nnlm(part, config, path.with_suffix(".pt"))
    found = surprises(model, part, whole, held_out_corpora(whole.words))
    return trained.vectors, {"next word": found, "words read": len(part)}


def judged(vectors: Vectors, seed: int) -> dict[str, Any]:
    """Ask one set of vectors everything; see `_static_summary` for what becomes of it."""
    some = vectors.of(shared_words())
    places = [place for _, _, place in our_sentences()]
    return {
        "relations": relations(some),
        "relations, any answer": relations(some, exclude=False),
        "similarity": {name: similarities(some, name)[1].round(5).tolist() for name in JUDGED},
        "kinds": kinds(some),
        "sst2": classified(vectors, "sst2"),
        "nli-wikipedia": classified(vectors, "nli-wikipedia"),
        "wikigold": names(word_table(vectors, windows().kinds), seed),
        "sst2, beside counting": beside_counting(vectors),
        "sst2, few": {str(n): with_few(vectors, n) for n in FEW},
        "known": {task: known_share(vectors, task) for task in ("sst2", "nli-wikipedia", "wikigold")},
        "senses": {name: told(vectors, name) for name in SETS},
        "our sentences": told_in_ours(contexts(vectors, places, 10**6)),
        "neighbours": {word: [other for other, _ in vectors.neighbours(word, 20)] for word in SHOWN},
        "play": neighbourhood(vectors),
    }


def known_share(vectors: Vectors, task: str) -> float:
    """Share of the words of a test part that have a vector."""
    examples: list[Any] = parts_of(task)[0]["test"]
    texts = (
        " ".join(one.words) if task == "wikigold" else f"{one.text} {one.text_b or ''}" for one in examples
    )
    words = [word for text in texts for word in split_words(text)]
    return round(sum(word in vectors for word in words) / len(words), 4)


def counting() -> dict[str, Any]:
    """Do the same without vectors; and keep what people and the hand say."""
    published = load_vectors(PUBLISHED)
    learnt = random_vectors(tuple(f"{i}" for i in range(len(windows().kinds))), D_MODEL, 0).matrix
    plain = {task: baselines(task) for task in ("sst2", "nli-wikipedia", "wikigold")}
    return {
        "plain": {task: {how: row["each"] for how, row in rows.items()} for task, rows in plain.items()},
        "wikigold, shapes alone": [names(None, seed) for seed in SEEDS],
        "wikigold, learnt by the task": [
            names(learnt.astype(np.float32), seed, learn=True) for seed in SEEDS
        ],
        "sst2, beside counting": beside_counting(None),
        "sst2, few": {str(n): with_few(None, n) for n in FEW},
        "senses": {name: told_by_counting(name) for name in SETS},
        "judged": {name: similarities(published.of(shared_words()), name)[0].tolist() for name in JUDGED},
        "by hand": by_hand([word for word, _ in published.neighbours("play", 50)]),
        "text": {
            "words": len(word_corpus()),
            "sentences": len(word_corpus().borders) - 1,
            "vocabulary": len(word_corpus().words),
            "shared": len(shared_words()),
            "play": int(word_corpus().counts[word_corpus().words.index("play")]),
        },
    }


def mixed(path: Path) -> dict[str, Any]:
    """Train skip-gram on text in which some pairs of words are one word, and see where that word lies."""
    corpus, file = word_corpus(), path.with_suffix(".npz")
    pairs = chosen_pairs(corpus)
    if not file.exists():
        skip_gram(pseudo_words(corpus, pairs), 0).save(file)
    return {"pairs": where_they_lie(Vectors.load(file), pairs, corpus)}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [{"model": model, "seed": seed} for model, seed in ARMS]
    rows = run_arms(NAME, arms, measure, parser.parse_args().workers)
    settings = {"d_model": D_MODEL, "window": WINDOW, "epochs": EPOCHS, "glove_epochs": GLOVE_EPOCHS}
    settings |= {"nnlm_epochs": NNLM_EPOCHS, "eighth": EIGHTH}
    start = time.process_time()
    found = summary(rows)  # thousands of draws for each interval: minutes
    seconds = sum(row["seconds"] for row in rows) + time.process_time() - start
    save_result(NAME, QUESTION, {"settings": settings, **found}, seconds=seconds)


if __name__ == "__main__":
    main()
