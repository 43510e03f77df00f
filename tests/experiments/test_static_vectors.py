"""Static vectors are asked the same things, on the same words, and what is made up is known beforehand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import _next_word
import _static_summary
import _vector_features
import _vector_senses
import _vector_tests
import static_vectors
from _comparison import each_of
from _counted_vectors import counted_vectors, ppmi, random_vectors
from _homographs import Sentence
from _mixed_words import chosen_pairs, in_plane, pseudo_words, where_they_lie
from _play_neighbours import BY_HAND, LISTS, by_hand, neighbourhood, parts_of_life
from _vector_features import Windows, example_features, text_means, word_table
from _vector_senses import Place, contexts, our_sentences, place_of, told_in_ours
from _vector_tests import halves, kinds, relations, spearman, spearman_draws
from _word_text import in_words, some_sentences
from bertlab.nn.nnlm import NNLM
from bertlab.tasks.classification import Example
from bertlab.tasks.entities import TaggedSentence
from bertlab.text import SPECIAL, Vectors, WordCorpus, WordPiece
from bertlab.text.cooccurrence import cooccurrences

GROUPS = (("red", "green", "blue"), ("one", "two", "three"), ("cat", "dog", "cow"))


def some_corpus(n: int = 300) -> WordCorpus:
    rng = np.random.default_rng(0)
    return WordCorpus.of_words([rng.choice(GROUPS[i % 3], 6).tolist() for i in range(n)], min_count=1)


def some_vectors(**rows: list[float]) -> Vectors:
    return Vectors(list(rows), np.array(list(rows.values()), np.float32))


def test_counted_vectors_bring_words_together_that_stand_together():
    vectors = counted_vectors(some_corpus(), 3)
    for group in GROUPS:
        for word in group:
            assert {other for other, _ in vectors.neighbours(word, 2)} == set(group) - {word}


def test_ppmi_is_the_logarithm_of_how_much_more_often_than_by_chance():
    corpus = some_corpus()
    found = cooccurrences(corpus, 5)
    table = np.zeros((9, 9))
    table[found.rows, found.columns] = found.counts
    expected = np.log(np.maximum(table, 1e-300) * table.sum() / np.outer(table.sum(1), table.sum(0)))
    np.testing.assert_allclose(ppmi(found, 9, smooth=1.0).toarray(), np.maximum(expected, 0), atol=1e-9)


def test_what_has_no_seeds_is_compared_with_the_mean_of_all_seeds_of_the_other():
    several = each_of([[[float(hit), 1.0]] * 50 for hit in (1, 0, 0)])  # 1/3 of it is right
    one = each_of([[[1.0, 1.0]] * 50])
    assert _static_summary.less(several, one)["difference"] == pytest.approx(1 / 3 - 1, abs=1e-4)
    assert _static_summary.less(one, several)["difference"] == pytest.approx(2 / 3, abs=1e-4)


def test_relations_are_asked_among_the_words_that_are_there_and_counted_by_their_first_pair(monkeypatch):
    pairs = {"twice": (("a", "aa"), ("b", "bb"), ("c", "missing")), "opposites": (("a", "b"),)}
    monkeypatch.setattr(_vector_tests, "RELATIONS", pairs)
    vectors = some_vectors(a=[1, 0, 0], aa=[1, 0, 1], b=[0, 1, 0], bb=[0, 1, 1])
    found = relations(vectors)
    assert found == {"twice": [[1.0, 1.0], [1.0, 1.0]], "opposites": [[0.0, 0.0]]}
    assert halves(found)["meaning"] == [[0.0, 0.0]]
    assert halves(found)["grammar"] == found["twice"]


def test_the_rank_correlation_is_scipy_s_and_its_draws_lie_around_it():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    gold = rng.integers(0, 5, 80).astype(float)  # with ties
    said = gold + 2 * rng.normal(size=80)
    assert spearman(gold, said) == pytest.approx(spearmanr(gold, said).statistic)
    low, high = np.quantile(spearman_draws(gold, [said], 200), [0.025, 0.975])
    assert low < spearman(gold, said) < high


def test_a_kind_is_right_if_the_nearest_of_all_listed_words_has_it(monkeypatch):
    monkeypatch.setattr(_vector_tests, "KINDS", {"colours": ("red", "blue"), "animals": ("cat", "dog")})
    vectors = some_vectors(red=[1, 0], blue=[1, 0.1], cat=[0, 1], dog=[1, 0.2], other=[0, 1.1])
    assert kinds(vectors) == [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0]]


def test_a_text_is_the_mean_of_its_known_words_and_a_pair_four_views_of_two_means():
    vectors = some_vectors(cat=[1, 2], dog=[3, -2])
    np.testing.assert_allclose(text_means(vectors, ["Cat, dog and more!", "none"]), [[2, 0], [0, 0]])
    pair = example_features(vectors, [Example("a cat", "a dog", "x")])
    np.testing.assert_allclose(pair, [[1, 2, 3, -2, 2, 4, 3, -4]])


def tagged(text: str) -> TaggedSentence:
    words, labels = zip(*(word.split("/") for word in text.split()), strict=True)
    return TaggedSentence(words, labels)


@pytest.fixture
def small_names(monkeypatch):
    rows = [tagged(f"we/O saw/O {name}/B-PER today/O") for name in ("ann", "bob", "eve", "dan")]
    rows += [tagged(f"we/O saw/O {thing}/O today/O") for thing in ("rain", "fog", "snow", "hail")]
    parts = {"train": rows * 150, "val": rows, "test": rows}
    monkeypatch.setattr(_vector_features, "parts_of", lambda task: (parts, ("O", "B-PER")))
    monkeypatch.setattr(_vector_features, "windows", Windows)


def test_names_are_told_by_vectors_that_know_them_and_not_by_shapes_alone(small_names):
    data = Windows()
    known = some_vectors(ann=[1, 0], bob=[1, 0.1], eve=[1, 0], dan=[1, 0.2], rain=[0, 1], fog=[0, 1])
    rows = np.array(_vector_features.names(word_table(known, data.kinds), 0))
    blind = np.array(_vector_features.names(None, 0))
    assert rows[:, 0].sum() == rows[:, 1].sum() == 8
    assert blind[:, 0].sum() < blind[:, 1].sum()


def test_a_table_that_the_task_may_change_learns_names_by_heart(small_names):
    table = random_vectors(tuple(Windows().kinds[1:]), 8, 0).matrix
    rows = np.array(_vector_features.names(np.concatenate([0 * table[:1], table]), 0, learn=True))
    assert rows[:, 0].sum() == rows[:, 1].sum() == 8


def test_windows_end_where_the_sentence_does(small_names):
    data = Windows()
    first = data.x["train"][0].tolist()
    assert [data.kinds[i] for i in first] == ["", "", "we", "saw", "ann"]
    assert data.sentences(data.y["test"], "test") == [list(one) for one in data.gold("test")]


def test_pieces_become_words_again_and_the_word_keeps_its_place():
    vocab = WordPiece([*SPECIAL, "the", "##n", "bank", ",", "they", "row", "##ed", "."])
    ids = [vocab.cls_id, *vocab.encode("Then, the bank, they rowed.").ids, vocab.sep_id]
    one = Sentence("bank", "river", ids, slice(5, 6))
    place = place_of(one, vocab)
    assert place == Place(("then", "the", "bank", "they", "rowed"), 2)
    assert place.around(1) == ["the", "they"]
    assert place.around(9) == ["then", "the", "they", "rowed"]


def test_the_own_row_of_a_word_is_no_part_of_its_context():
    places = [Place(("cat", "bank", "dog"), 1), Place(("bank",), 0)]
    vectors = some_vectors(cat=[1, 0], dog=[0, 1], bank=[50, 50])
    np.testing.assert_allclose(contexts(vectors, places, 5), [[0.5, 0.5], [0, 0]])


def test_in_our_sentences_the_right_sense_is_found_by_a_vector_that_has_it_and_by_chance_without():
    rows = our_sentences()
    senses = sorted({(word, sense) for word, sense, _ in rows})
    knows = np.array([[float((word, sense) == one) for one in senses] for word, sense, _ in rows])
    assert len(rows) == 60
    assert all(told_in_ours(knows))
    drawn = [np.mean(told_in_ours(np.random.default_rng(i).normal(size=(60, 20)))) for i in range(9)]
    assert 0.2 < np.mean(drawn) < 0.5


def test_a_word_that_is_two_words_lies_in_their_plane_nearer_to_the_frequent_one():
    vectors = some_vectors(a=[1, 0, 0], b=[0, 1, 0], a_b=[3, 1, 0], c=[0, 0, 1], d=[0, 1, 1])
    assert in_plane(vectors, "a_b", ("a", "b")) == pytest.approx(1)
    assert in_plane(vectors, "a_b", ("c", "d")) == pytest.approx(0.1, abs=1e-3)
    corpus = WordCorpus.of_words([["a"] * 3 + ["b", "c", "d"]], min_count=1)
    row = where_they_lie(vectors, [("a", "b")], corpus)[0]
    assert row["share"] == 0.75
    assert row["ranks"] == [1, 2]
    assert row["cosines"][0] > row["cosines"][1]


def test_half_of_the_places_of_both_are_written_as_one_and_nothing_else_changes(monkeypatch):
    corpus = some_corpus()
    both = pseudo_words(corpus, [("red", "cat")])
    counts = dict(zip(both.words, both.counts.tolist(), strict=True))
    before = dict(zip(corpus.words, corpus.counts.tolist(), strict=True))
    assert counts["red_cat"] == before["red"] // 2 + before["cat"] // 2
    assert all(counts[word] == before[word] for word in before if word not in ("red", "cat"))
    monkeypatch.setattr("_mixed_words.KINDS", {"colours": GROUPS[0], "animals": GROUPS[2]})
    pairs = chosen_pairs(corpus)
    assert len({word for pair in pairs for word in pair}) == 2 * len(pairs) == 6
    assert all((a in GROUPS[0]) != (b in GROUPS[0]) and before[a] >= before[b] for a, b in pairs)


def test_by_hand_every_word_has_one_label_and_a_strange_one_is_refused():
    words = [word for some in BY_HAND.values() for word in some.split()]
    assert len(words) == len(set(words)) == 50
    counts = by_hand(["playing", "game", "team", *words[:7]])
    assert sum(counts["10"].values()) == 10
    with pytest.raises(ValueError, match="have no label"):
        by_hand(["unheard"])


def test_a_neighbourhood_in_the_middle_of_a_list_belongs_to_it_and_others_do_not():
    rng, rows = np.random.default_rng(0), dict[str, np.ndarray]()
    for i, words in enumerate(LISTS.values()):
        rows |= {word: 5 * np.eye(6)[i] + rng.normal(size=6) for word in words.split()}
    rows |= {f"sporty{i}": 9 * np.eye(6)[0] + rng.normal(size=6) for i in range(3)}
    rows |= {f"word{'abcdefghij'[i % 10]}{chr(97 + i // 10)}": rng.normal(size=6) for i in range(250)}
    rows["play"] = 6 * np.eye(6)[0] + rng.normal(size=6)
    vectors = Vectors(list(rows), np.stack(list(rows.values())))
    belongs, _ = parts_of_life(vectors)
    assert sum(map(bool, belongs)) <= 0.08 * len(belongs) + 4  # one in fifty for each of four lists
    found = neighbourhood(vectors)
    assert found["percentile"]["sport"] > 0.85 > found["percentile"]["theatre"]
    assert len(found["nearest"]) == 50
    assert found["lists"]["50"]["sport"] >= found["matched"]["sport"]["50"]


def test_text_held_out_keeps_its_places_and_an_eighth_its_words():
    corpus = some_corpus(64)
    part = static_vectors.eighth(corpus)
    assert len(part.borders) - 1 == 8
    assert part.words == corpus.words
    np.testing.assert_array_equal(part.ids[:6], corpus.ids[:6])
    np.testing.assert_array_equal(some_sentences(corpus, np.array([8])).ids, part.ids[6:12])
    assert in_words(["Cat? New dog!"], ("dog", "cat")).ids.tolist() == [1, 0]


def test_counts_and_the_network_are_asked_the_same_and_their_chances_sum_to_one():
    corpus = some_corpus(40)
    counts, runs = _next_word.counted(corpus), _next_word.asked(corpus, 20)
    torch.manual_seed(0)
    model = NNLM(9, 4, 5, 3)
    for known in range(4):
        whole = np.stack([_next_word.by_counts(counts, _last(runs, word), known) for word in range(9)])
        np.testing.assert_allclose(whole.sum(0), 1, atol=0.06)  # a border is no word: it has the rest
    whole = np.stack([_next_word.by_network(model, _last(runs, word)) for word in range(9)])
    np.testing.assert_allclose(whole.sum(0), 1, atol=1e-5)


def _last(runs: np.ndarray, word: int) -> np.ndarray:
    changed = runs.copy()
    changed[:, -1] = word
    return changed


def test_counts_know_what_follows_three_words_and_see_the_nearest_first():
    corpus = WordCorpus.of_words([list("abcd"), list("cbae")] * 9, min_count=1)
    counts = _next_word.counted(corpus)
    place = {word: i for i, word in enumerate(corpus.words)}
    runs = np.array([[place[x] for x in run] for run in ("abcd", "abce", "cbae", "cbad")])
    p = _next_word.by_counts(counts, runs, 3)
    assert min(p[0], p[2]) > 0.8 > 0.2 > max(p[1], p[3])


def test_a_surprise_is_the_mean_over_places_and_lies_in_its_interval():
    p = np.random.default_rng(0).uniform(0.1, 1, 2000)
    mean, low, high = _next_word.with_interval(_next_word.surprise_each(p))
    assert low < mean < high
    assert mean == pytest.approx(-np.log(p).mean(), abs=1e-4)


def test_what_one_is_more_than_another_is_paired():
    a = each_of([[[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]])
    b = each_of([[[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]])
    found = _static_summary.against({"a": a, "b": b}, ("b",))
    assert found["a"]["score"][0] == 0.75
    assert found["a"]["less b"]["difference"] == 0.25
    assert "less b" not in found["b"]


def test_every_model_of_the_arms_can_be_made_or_is_measured_apart():
    names = {model for model, _ in static_vectors.ARMS}
    apart = {*static_vectors.BESIDE, "nnlm, an eighth"}
    assert names == {*static_vectors.MAKERS} | apart
    assert {*_static_summary.BESIDE} == {*static_vectors.BESIDE}
    assert len(static_vectors.ARMS) == len(set(static_vectors.ARMS))


def test_all_sets_of_senses_are_those_of_the_other_record():
    import sense_layers

    assert sense_layers.SETS == _vector_senses.SETS
