"""Word2Vec, ours beside gensim's: the same text, the same settings, one machine.

Text: every so-manyth document of books, wikisplit and masc, cut into words as ours cuts them; both sides get
the same sentences of the same words. Settings are those of both: 50 numbers, windows of five words drawn
anew, five words of noise, frequent words thinned out at 1e-3, no word that occurs fewer than ten times. What
is not the same is the descent: gensim moves word by word, by plain descent with a rate that falls from 0.025;
ours moves a thousand words at once, by AdaGrad. So speed alone says little, and three things are asked:

- words a second: text × epochs by time, in rounds that take turns, each side alone; the ratio round by round;
- the vectors after as many epochs: relations, and similarity as people judge it (Spearman's ρ);
- the vectors after as much time: who is faster reads more epochs.

gensim is measured with one worker and one thread of ours, and with as many as there are cores: its workers
share the tables without locks (so two runs differ, whatever the seed), ours give torch that many threads. A
round of gensim includes no counting of words, one of ours no reading of sentences.

    python benchmarks/word_vectors.py            # some minutes
    python benchmarks/word_vectors.py --quick    # a text of no use, to see that it runs; printed only
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from tqdm import tqdm

from bertlab.datasets.word_relations import RELATIONS, questions
from bertlab.text import Vectors, WordCorpus
from bertlab.training import Word2VecConfig, save_result, train_word2vec
from bertlab.training.memory import keep_freed_memory

NAME = "word_vectors"
QUESTION = "How fast is our Word2Vec beside gensim's, and how good are its vectors?"
MODELS: tuple[Literal["skip-gram", "cbow"], ...] = ("skip-gram", "cbow")
JUDGED = {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}
MIN_COUNT = 10


@dataclass(frozen=True)
class Size:
    """How much is done."""

    words: int  # of the text, about
    rounds: int
    epochs: int  # of the comparison of vectors


FULL, QUICK = Size(800_000, 4, 5), Size(5_000, 1, 1)


def gensim_word2vec() -> Any:
    """Import gensim's class.

    Raises
    ------
    SystemExit
        If gensim is not there; the sentence names the command.
    """
    if find_spec("gensim") is None:
        raise SystemExit("gensim is not installed: run `make install`, or `pip install gensim`")
    word2vec = import_module("gensim.models.word2vec")
    assert word2vec.FAST_VERSION > -1, "gensim runs without its compiled part: install a wheel of it"
    return word2vec.Word2Vec


def some_text(n_words: int) -> WordCorpus:
    """Read every k-th document of the text that the shipped checkpoints have read, some n words in all."""
    from bertlab import datasets

    names = ("books", "wikisplit", "masc")
    documents = [one for name in names for one in datasets.documents(name)]
    total = sum(sentence.count(" ") + 1 for one in documents for sentence in one.sentences)
    kept = documents[:: max(total // n_words, 1)]
    return WordCorpus.read((sentence for one in kept for sentence in one.sentences), MIN_COUNT)


def made_up_text(n_words: int) -> WordCorpus:
    """Draw sentences of ten words by Zipf's law: nothing can be learnt from them."""
    rng = np.random.default_rng(0)
    drawn = rng.zipf(1.3, (n_words // 10, 10)) % 500
    return WordCorpus.of_words([[f"w{i}" for i in row] for row in drawn.tolist()], min_count=MIN_COUNT)


def as_sentences(corpus: WordCorpus) -> list[list[str]]:
    """Write a corpus out again, as gensim reads it."""
    words = [corpus.words[i] for i in corpus.ids.tolist()]
    pairs = zip(corpus.borders[:-1].tolist(), corpus.borders[1:].tolist(), strict=True)
    return [words[a:b] for a, b in pairs]


class Theirs:
    """gensim's Word2Vec on a text, with our settings.

    Parameters
    ----------
    corpus : the text.
    """

    def __init__(self, corpus: WordCorpus) -> None:
        self.make = gensim_word2vec()
        self.sentences, self.corpus = as_sentences(corpus), corpus

    def train(self, config: Word2VecConfig, workers: int) -> tuple[Vectors, float]:
        """Train, and tell the vectors and the seconds; counting the words is not timed.

        Raises
        ------
        AssertionError
            If the two sides do not have the same words as often.
        """
        model = self.make(
            vector_size=config.d_model,
            window=config.window,
            sg=int(config.model == "skip-gram"),
            negative=config.negatives,
            sample=config.threshold,
            cbow_mean=1,
            min_count=1,
            seed=config.seed,
            workers=workers,
        )
        model.build_vocab(self.sentences)
        counts = [model.wv.get_vecattr(word, "count") for word in self.corpus.words]
        assert counts == self.corpus.counts.tolist(), "the two sides read different words"
        start = time.perf_counter()
        model.train(self.sentences, total_examples=model.corpus_count, epochs=config.epochs)
        seconds = time.perf_counter() - start
        return Vectors(self.corpus.words, np.stack([model.wv[word] for word in self.corpus.words])), seconds


class Ours:
    """Our Word2Vec on the same text."""

    def __init__(self, corpus: WordCorpus) -> None:
        self.corpus = corpus

    def train(self, config: Word2VecConfig, workers: int) -> tuple[Vectors, float]:
        """Train with so many threads, and tell the vectors and the seconds."""
        before = torch.get_num_threads()
        torch.set_num_threads(workers)
        start = time.perf_counter()
        vectors = train_word2vec(self.corpus, config).vectors
        seconds = time.perf_counter() - start
        torch.set_num_threads(before)
        return vectors, seconds


Side = Callable[[Word2VecConfig, int], tuple[Vectors, float]]


def in_turns(sides: dict[str, Side], model: Any, workers: int, rounds: int, n_words: int) -> dict[str, Any]:
    """Let both read the text once a round, and compare words a second round by round.

    Returns
    -------
    words_a_second : median of each side. ratios : ours by theirs, each round; ratio : their median.
    """
    rates: dict[str, list[float]] = {name: [] for name in sides}
    config = settings(model, epochs=1)
    for number in tqdm(range(rounds + 1), desc=f"{model}, {workers} threads", disable=None):  # first: warm up
        order = list(sides) if number % 2 else list(reversed(sides))
        for name in order:
            _, seconds = sides[name](config, workers)
            if number:
                rates[name].append(n_words / seconds)
    ratios = [ours / theirs for ours, theirs in zip(rates["ours"], rates["gensim"], strict=True)]
    return {
        "words_a_second": {name: round(statistics.median(found)) for name, found in rates.items()},
        "ratios": [round(ratio, 3) for ratio in ratios],
        "ratio": round(statistics.median(ratios), 2),
    }


def settings(model: Any, epochs: int, seed: int = 0) -> Word2VecConfig:
    """The settings of both sides."""
    return Word2VecConfig(model=model, d_model=50, epochs=epochs, seed=seed)


def judged_pairs(name: str) -> list[tuple[str, str, float]]:
    """Read pairs of words with how much alike people find them; gensim's package carries the lists."""
    spec = find_spec("gensim")
    assert spec is not None
    assert spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0]) / "test" / "test_data" / JUDGED[name]
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if line and line[0] != "#"]
    return [(one.lower(), other.lower(), float(value)) for one, other, value in rows]


def scores(vectors: Vectors) -> dict[str, float]:
    """Share of relations that are answered, in %, and the rank correlation with what people say of pairs."""
    asked = vectors.analogies(row for relation in RELATIONS.values() for row in questions(relation))
    found = {"relations": round(100 * asked.right / max(asked.asked, 1), 2), "asked": asked.asked}
    for name in JUDGED:
        known = [row for row in judged_pairs(name) if row[0] in vectors and row[1] in vectors]
        if len(known) > 2:
            said = [vectors.similarity(one, other) for one, other, _ in known]
            found[name] = round(correlation(said, [value for _, _, value in known]), 4)
    return found


def correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's ρ."""
    from scipy.stats import spearmanr

    return float(spearmanr(one, other).statistic)


def compared(sides: dict[str, Side], model: Any, size: Size, ratio: float, workers: int) -> dict[str, Any]:
    """Train both as many epochs, and then ours (or theirs) as much longer as it is faster.

    Parameters
    ----------
    ratio : words a second, ours by theirs, with these workers.
    """
    found: dict[str, Any] = {}
    for name, side in sides.items():
        runs = [side(settings(model, size.epochs, seed), workers) for seed in range(2)]
        found[name] = {
            "epochs": size.epochs,
            "seconds": [round(seconds, 2) for _, seconds in runs],
            "scores": [scores(vectors) for vectors, _ in runs],
        }
    faster = "ours" if ratio >= 1 else "gensim"
    epochs = max(round(size.epochs * max(ratio, 1 / ratio)), size.epochs)
    vectors, seconds = sides[faster](settings(model, epochs), workers)
    longer = {"epochs": epochs, "seconds": [round(seconds, 2)], "scores": [scores(vectors)]}
    return {"as many epochs": found, "as much time": {faster: longer}}


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the record, or print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="a text of no use; print, keep nothing")
    chosen = parser.parse_args(arguments)
    size = QUICK if chosen.quick else FULL
    keep_freed_memory()
    start = time.perf_counter()
    corpus = (made_up_text if chosen.quick else some_text)(size.words)
    sides: dict[str, Side] = {"ours": Ours(corpus).train, "gensim": Theirs(corpus).train}
    found: dict[str, Any] = {}
    for model in MODELS:
        threads = {
            str(n): in_turns(sides, model, n, size.rounds, len(corpus)) for n in sorted({1, chosen.threads})
        }
        ratio = threads[str(chosen.threads)]["ratio"]
        found[model] = {"threads": threads, **compared(sides, model, size, ratio, chosen.threads)}
    text = {"words": len(corpus), "vocabulary": len(corpus.words)}
    results = {"gensim": version("gensim"), "threads": chosen.threads, "text": text, "models": found}
    if chosen.quick:
        print(json.dumps(results, indent=1))
        return
    cost = (time.perf_counter() - start) * chosen.threads
    print(save_result(NAME, QUESTION, {**results, "rounds": size.rounds}, cost, command="make bench"))


if __name__ == "__main__":
    main()
