"""Claims about named entities: labels on first pieces, words back from pieces, and files that are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab import datasets
from bertlab.tasks.bio import bio_labels, find_entities
from bertlab.tasks.entities import (
    TaggedSentence,
    load_entities,
    piece_labels,
    read_conll,
    word_inputs,
    word_labels,
)
from bertlab.text import IGNORE_INDEX, SPECIAL, WordPiece

PIECES = ["ivo", "hart", "##well", "visited", "ska", "##r", "##n", "a", "##a", "."]
TOKENIZER = WordPiece([*SPECIAL, *PIECES])
NAMES = bio_labels(["LOC", "PER"])
WORDS = ["Ivo", "Hartwell", "visited", "Skarn"]
LABELS = ["B-PER", "I-PER", "O", "B-LOC"]

any_words = st.lists(st.sampled_from([*WORDS, "aaa", "a.a", "unknown", "\ufe0f", "a\u200ba"]), max_size=9)


def test_D29_the_first_piece_of_each_word_bears_its_label():
    found = word_inputs(WORDS, TOKENIZER)
    labels = piece_labels(found, LABELS, NAMES)
    assert [TOKENIZER.vocab[i] for i in found.inputs.ids] == [
        *("[CLS]", "ivo", "hart", "##well", "visited", "ska", "##r", "##n", "[SEP]")
    ]
    named = [-100 if i == IGNORE_INDEX else NAMES[i] for i in labels]
    assert named == [-100, "B-PER", "I-PER", -100, "O", "B-LOC", -100, -100, -100]
    assert labels.dtype == found.firsts.dtype == np.int64


@given(any_words, st.randoms(use_true_random=False))
def test_D29_as_many_labels_count_as_there_are_words_and_they_come_back(words, random):
    labels = random.choices(NAMES, k=len(words))
    found = word_inputs(words, TOKENIZER)
    on_pieces = piece_labels(found, labels, NAMES)
    assert (on_pieces != IGNORE_INDEX).sum() == len(words) == found.n_words
    predicted = np.where(on_pieces == IGNORE_INDEX, 1, on_pieces)
    assert word_labels(predicted, found, NAMES) == labels


@given(any_words)
def test_words_are_cut_into_pieces_one_by_one(words):
    found = word_inputs(words, TOKENIZER)
    ends = [*found.firsts[1:], len(found.inputs.ids) - 1]
    for word, first, end in zip(words, found.firsts, ends, strict=bool(words)):
        its_own = TOKENIZER.encode(word).ids or [TOKENIZER.unk_id]
        assert found.inputs.ids[first:end].tolist() == its_own


def test_a_word_of_which_cleaning_leaves_nothing_is_read_as_unknown():
    found = word_inputs(["Ivo", "\ufe0f", "."], TOKENIZER)
    assert found.inputs.ids.tolist()[1:4] == [TOKENIZER.ids["ivo"], TOKENIZER.unk_id, TOKENIZER.ids["."]]
    assert found.firsts.tolist() == [1, 2, 3]


def test_what_does_not_fit_is_refused_unless_it_may_be_cut():
    with pytest.raises(ValueError, match=r"7 \+ 0 pieces do not fit into max_length=8"):
        word_inputs(WORDS, TOKENIZER, max_length=8)
    assert word_inputs(WORDS, TOKENIZER, max_length=9).inputs.cut == 0


@given(any_words, st.integers(2, 20))
def test_words_that_were_cut_off_are_told_and_predicted_as_o(words, room):
    whole = word_inputs(words, TOKENIZER)
    found = word_inputs(words, TOKENIZER, max_length=room, truncation="only_first")
    assert found.inputs.cut == max(0, len(whole.inputs.ids) - room)
    assert found.n_words == len(words)
    assert found.firsts.tolist() == [first for first in whole.firsts if first < room - 1]
    labels = piece_labels(found, ["B-PER"] * len(words), NAMES)
    assert (labels != IGNORE_INDEX).sum() == len(found.firsts)
    all_per = word_labels(np.full(len(labels), NAMES.index("B-PER")), found, NAMES)
    assert all_per == ["B-PER"] * len(found.firsts) + ["O"] * (len(words) - len(found.firsts))


def test_a_word_that_is_cut_in_two_keeps_its_label():
    found = word_inputs(WORDS, TOKENIZER, max_length=7, truncation="only_first")  # ska stays, ##r ##n go
    assert found.inputs.cut == 2
    assert piece_labels(found, LABELS, NAMES)[-2] == NAMES.index("B-LOC")


def test_labels_that_do_not_match_are_refused():
    found = word_inputs(WORDS, TOKENIZER)
    with pytest.raises(ValueError, match="3 labels for 4 words"):
        piece_labels(found, LABELS[:3], NAMES)
    with pytest.raises(ValueError, match="label 'B-ORG' is unknown: the model knows O, B-LOC"):
        piece_labels(found, ["B-ORG", "O", "O", "O"], NAMES)
    with pytest.raises(ValueError, match="8 predictions for 9 pieces"):
        word_labels([0] * 8, found, NAMES)


def conll(tmp_path, text, **options):
    file = tmp_path / "x.conll"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_conll(file, **options)


def test_a_file_is_read_into_documents_and_sentences(tmp_path):
    text = "-DOCSTART- -X- O\n\nIvo NNP I-PER\nran VB O\n\n\n  \nOslo\tNNP\tI-LOC\n-DOCSTART- O\nHi UH O"
    expected = [
        [TaggedSentence(("Ivo", "ran"), ("B-PER", "O")), TaggedSentence(("Oslo",), ("B-LOC",))],
        [TaggedSentence(("Hi",), ("O",))],
    ]
    for written in (text, text + "\n\n", text.replace("\n", "\r\n"), "\ufeff" + text):
        assert conll(tmp_path, written, scheme="IOB1") == expected


def test_white_space_other_than_spaces_and_tabs_is_part_of_a_word(tmp_path):
    assert conll(tmp_path, "a\u00a0b\u2028c O\n")[0][0].words == ("a\u00a0b\u2028c",)


def test_broken_labels_are_repaired_where_that_is_asked_for(tmp_path):
    assert conll(tmp_path, "a O\nb I-X\n", broken="repair")[0][0].labels == ("O", "B-X")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "x.conll has no words"),
        ("\n \n-DOCSTART- O\n", "x.conll has no words"),
        ("a O\nb\n", "x.conll, line 2: 'b' has no label"),
        ("a O\nb X-PER\n", "x.conll, line 2: label 'X-PER' is neither"),
        ("a O\n\nb O\nc I-PER\n\nd O", "x.conll, sentence before line 5: label 2 is I-PER but follows O"),
        (b"caf\xe9 O\n", "x.conll is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_its_place(tmp_path, text, sentence):
    with pytest.raises(ValueError, match=sentence):
        conll(tmp_path, text)


def test_an_unknown_data_set_is_refused():
    with pytest.raises(
        ValueError, match=r"'conll2003' is no data set .* choose one of \('wikigold', 'wnut17'\)"
    ):
        load_entities("conll2003")


def test_wikigold_is_whole_sound_and_split_by_article(mirrored):
    texts = load_entities("wikigold")
    assert texts.labels == bio_labels(["LOC", "MISC", "ORG", "PER"])
    assert (len(texts.train), len(texts.val), len(texts.test)) == (1034, 343, 319)
    assert sum(len(one.words) for part in parts(texts) for one in part) == 39007
    n_entities = [sum(len(find_entities(one.labels, "strict")) for one in part) for part in parts(texts)]
    assert n_entities == [2170, 740, 648]  # 3,558 in all, as Balasuriya et al. 2009 count
    long = [{one.words for one in part if len(one.words) > 5} for part in parts(texts)]
    assert not long[0] & long[1] | long[0] & long[2] | long[1] & long[2]


def test_wnut17_has_its_official_parts(mirrored):
    texts = load_entities("wnut17")
    kinds = ["corporation", "creative-work", "group", "location", "person", "product"]
    assert texts.labels == bio_labels(kinds)
    assert [len(part) for part in parts(texts)] == [3394, 1009, 1287]
    n_entities = [sum(len(find_entities(one.labels, "strict")) for one in part) for part in parts(texts)]
    assert n_entities == [1975, 836, 1079]  # as Derczynski et al. 2017 count


def test_every_word_of_both_sets_has_a_labelled_piece(mirrored):
    tokenizer = WordPiece(datasets.load("bert-base-uncased-vocab").lines("vocab.txt"))
    for name in ("wikigold", "wnut17"):
        texts = load_entities(name)
        for one in (*texts.val, *texts.test):
            found = word_inputs(one.words, tokenizer)
            labels = piece_labels(found, one.labels, texts.labels)
            assert word_labels(np.maximum(labels, 0), found, texts.labels) == list(one.labels)


def parts(texts):
    return texts.train, texts.val, texts.test
