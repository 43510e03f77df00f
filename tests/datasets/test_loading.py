import gzip
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

from bertlab.datasets import UnknownName, load, names
from tests.datasets.support import COMMIT, entry

QUIET = pytest.mark.filterwarnings("ignore:.* is for non-commercial use only")


@pytest.fixture
def made(manifest, server):
    """A function that publishes files as a set called "made", and loads it."""

    def load_made(files, **more):
        manifest(entry("made", {path: (data, None, {path: data}) for path, data in files.items()}, **more))
        server.files |= {f"someone/repo/{COMMIT}/{path}": data for path, data in files.items()}
        return load("made")

    return load_made


# --- readers on files of a few bytes --------------------------------------------------------------


def test_lines_end_at_newlines_only_and_keep_empty_ones(made):
    data = made({"a.txt": "one \u2028 still one\x0c\n\nthree".encode(), "b.txt": b"end\n"})
    assert data.lines("a.txt") == ["one \u2028 still one\x0c", "", "three"]
    assert data.lines("b.txt") == ["end"]
    assert data.text("b.txt") == "end\n"


def test_a_packed_file_is_unpacked(made):
    assert made({"a.gz": gzip.compress("zw\u00f6lf\n".encode())}).lines("a.gz") == ["zw\u00f6lf"]


def test_a_table_with_a_header_names_its_own_columns(made):
    data = made({"a.tsv": b'left\tright\n"\tsaid "so"\n'})
    assert data.records("a.tsv") == [{"left": '"', "right": 'said "so"'}]  # quotation marks are text


def test_a_table_with_a_quoted_header_is_unquoted(made):
    data = made({"a.tsv": b'"left"\t"right"\n"a ""b"""\t"tab\tand\nline"\n'})
    assert data.records("a.tsv") == [{"left": 'a "b"', "right": "tab\tand\nline"}]


def test_a_table_without_a_header_gets_its_columns_from_the_card(made):
    data = made({"a.txt": b'"x\t1\ny\t0'}, columns=["sentence", "label"])
    assert data.records("a.txt") == [{"sentence": '"x', "label": "1"}, {"sentence": "y", "label": "0"}]


def test_json_lines_are_records_too(made):
    assert made({"a.jsonl": b'{"n": 1}\n{"n": [2]}\n'}).records("a.jsonl") == [{"n": 1}, {"n": [2]}]


def test_tagged_words_come_as_sentences_with_either_separator(made):
    data = made({"a.conll": b"Bonn\tB-loc\nis\tO\n\t\nnice O\n\n"})
    assert data.sentences("a.conll") == [[("Bonn", "B-loc"), ("is", "O")], [("nice", "O")]]


def test_a_data_set_says_what_it_is_in_a_line(made):
    data = made({"a.txt": b"1234"})
    assert repr(data) == "Dataset('made', 1 files, 4 B)"
    assert data.files == ["a.txt"]


def test_unknown_names_are_refused_with_the_closest_one(made):
    data = made({"train.en": b"a", "train.de": b"b"})
    with pytest.raises(UnknownName, match=r"no file in made 'train.dn': did you mean 'train.d?e?n?'"):
        data.path("train.dn")
    with pytest.raises(UnknownName, match=r"there is no data set 'made2': did you mean 'made'\?"):
        load("made2")


# --- warnings -------------------------------------------------------------------------------------


def test_a_non_commercial_set_warns_once_a_process_in_one_sentence(made):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made({"a.txt": b"a"}, non_commercial=True)
        load("made")
    assert [str(warning.message) for warning in caught] == ["made is for non-commercial use only: made up"]
    assert caught[0].category is UserWarning
    assert caught[0].filename == __file__  # it points at the line that loads


def test_a_free_set_does_not_warn(made):
    made({"a.txt": b"a"})  # a warning would be an error here


# --- the real sets --------------------------------------------------------------------------------


@pytest.fixture
def real(real_mirror, monkeypatch):
    """`load`, with the mirror in place."""
    monkeypatch.setenv("BERTLAB_DATA_MIRROR", str(real_mirror))
    return load


@QUIET
def test_all_twenty_sets_load_from_the_mirror_and_every_file_has_its_checksum(real, real_mirror, cache):
    total = 0
    for name in names():
        data = real(name)
        for file in data.files:
            assert data.path(file).is_relative_to(cache)
            assert data.path(file).read_bytes() == (real_mirror / name / file).read_bytes()
            total += data.path(file).stat().st_size
    assert total == 58_799_800


@QUIET
def test_multi30k_is_aligned_line_by_line(real):
    data = real("multi30k")
    for split, n in {"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000}.items():
        for language in ("de", "en", "fr"):
            assert len(data.lines(f"{split}.{language}.gz")) == n
    pair = [data.lines(f"train.{language}.gz")[0] for language in ("de", "en")]
    assert pair == [
        "Zwei junge wei\u00dfe M\u00e4nner sind im Freien in der N\u00e4he vieler B\u00fcsche.",
        "Two young, White males are outside near many bushes.",
    ]


@QUIET
def test_tables_have_the_rows_and_labels_they_are_known_for(real):
    def counts(name, file, column):
        values = [record[column] for record in real(name).records(file)]
        return {value: values.count(value) for value in sorted(set(values))}

    assert counts("sst2", "train.tsv", "label") == {"0": 3_310, "1": 3_610}
    assert counts("sst2", "dev.tsv", "label") == {"0": 428, "1": 444}
    assert set(counts("nli-wikipedia", "val.tsv", "label")) == {"contradiction", "entailment", "neutral"}
    assert sum(counts("nli-wikipedia", "train.tsv", "label").values()) == 8_500
    assert len(real("tatoeba-eng-cmn").records("cmn-long.txt")) == 9_155
    assert real("tatoeba-eng-fra-mini").records("eng-fra.txt")[0]["french"] == "Va !"
    assert len(real("blimp").records("npi_present_1.jsonl")) == 1_000
    for split in ("tune", "validation", "test"):
        rows = real("wikisplit").records(f"{split}.tsv")
        assert len(rows) == 5_000
        assert all(row["split"].count("<::::>") == 1 for row in rows)


@QUIET
def test_positions_point_at_what_they_should(real):
    for row in real("wikipedia-homographs").records("eval.tsv"):
        found = row["sentence"].encode()[int(row["start"]) : int(row["end"])]  # bytes, as the card says
        assert found.decode().lower() == row["homograph"]
    for row in real("gap").records("gap-validation.tsv"):
        assert row["Text"][int(row["Pronoun-offset"]) :].startswith(row["Pronoun"])
    for row in real("coarsewsd-20").records("bank/train.data.txt"):
        assert "bank" in row["sentence"].split()[int(row["index"])]
    articles = json.loads(real("xquad").text("xquad.zh.json"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    assert len(paragraphs) == 240
    for paragraph in paragraphs:
        for answer in (answer for qa in paragraph["qas"] for answer in qa["answers"]):
            assert paragraph["context"][answer["answer_start"] :].startswith(answer["text"])


def test_tagged_sets_have_their_sentences(real):
    data = real("wnut17")
    n = [len(data.sentences(f"{split}.conll")) for split in ("train", "dev", "test")]
    assert n == [3_394, 1_009, 1_287]
    assert len(real("wikigold").sentences("wikigold.conll")) == 1_841  # document marks included


def test_vectors_and_words_belong_together(real):
    data = real("glove-6b-50d-top20k")
    vectors = np.load(data.path("vectors_f16.npy"), allow_pickle=False).astype(np.float32)
    row = {word: i for i, word in enumerate(data.lines("words.txt"))}
    assert vectors.shape == (len(row), 50) == (20_000, 50)

    def cosine(a, b):
        u, v = vectors[row[a]], vectors[row[b]]
        return u @ v / np.linalg.norm(u) / np.linalg.norm(v)

    assert cosine("france", "germany") > 0.7 > 0.3 > cosine("france", "guitar")


def test_bert_s_vocabulary_has_its_special_tokens_at_their_ids(real):
    tokens = real("bert-base-uncased-vocab").lines("vocab.txt")
    assert len(tokens) == 30_522
    assert [tokens[i] for i in (0, 100, 101, 102, 103)] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def test_importing_the_data_sets_does_not_import_torch():
    code = "import sys, bertlab.datasets; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
