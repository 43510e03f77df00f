"""Claims about reading SQuAD's form: what is refused, by its place; and articles that stay together."""

from __future__ import annotations

import copy
import json
import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab import datasets
from bertlab.tasks.squad import Answer, Question, gold_answers, read_squad, read_xquad, split_by_article

PASSAGE = "Das Café zählt 308 Stühle."
CONTENT = {
    "version": "1.1",
    "data": [
        {
            "title": "Café",
            "paragraphs": [
                {
                    "context": PASSAGE,
                    "qas": [
                        {
                            "id": "q1",
                            "question": "How many?",
                            "answers": [
                                {"text": "308", "answer_start": 15},
                                {"text": "308 Stühle", "answer_start": 15},
                            ],
                        },
                        {
                            "id": "q2",
                            "question": "What?",
                            "answers": [{"text": "Café", "answer_start": 4}],
                        },
                    ],
                }
            ],
        },
        {
            "title": "Nothing",
            "paragraphs": [
                {
                    "context": "So.",
                    "qas": [
                        {
                            "id": "q3",
                            "question": "Why?",
                            "answers": [],
                            "is_impossible": True,
                            "plausible_answers": [{"text": "So", "answer_start": 0}],
                        }
                    ],
                }
            ],
        },
    ],
}


@pytest.fixture
def read(tmp_path):
    """Write a content as a file and read it."""

    def write_and_read(content: object) -> list[Question]:
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / "qa.json").write_text(text, encoding="utf-8")
        return read_squad(tmp_path / "qa.json")

    return write_and_read


def changed(change) -> dict:
    """Content with a change to its first question."""
    content = copy.deepcopy(CONTENT)
    change(content["data"][0]["paragraphs"][0]["qas"][0])
    return content


def test_questions_come_in_order_with_all_their_answers_and_their_article(read):
    first, second, third = read(CONTENT)
    assert first == Question(
        "q1", "How many?", PASSAGE, (Answer("308", 15), Answer("308 Stühle", 15)), article=0
    )
    assert second == Question("q2", "What?", PASSAGE, (Answer("Café", 4),), article=0)
    assert third == Question("q3", "Why?", "So.", (), article=1)  # a plausible answer is none
    assert gold_answers([first, third]) == {"q1": ["308", "308 Stühle"], "q3": []}


def test_an_answer_ends_behind_its_last_character():
    assert PASSAGE[Answer("Café", 4).start : Answer("Café", 4).end] == "Café"


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (16, r"answer_start=16 does not fit the answer '308': the passage has '08 ' there, .* at 15: count"),
        (17, "at 15: count its characters, not bytes"),  # "é" and "ä" have two bytes
        (-11, r"answer_start=-11 does not fit .* the passage has '' there"),  # not counted from the end
        (999, r"answer_start=999 does not fit .* the passage has '' there"),
    ],
)
def test_an_answer_that_does_not_stand_where_it_is_said_to_is_refused(read, start, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        read(changed(lambda question: question["answers"][0].update(answer_start=start)))
    assert str(error.value).startswith("qa.json, data[0].paragraphs[0].qas[0].answers[0]: ")


def test_an_answer_in_other_words_or_empty_is_refused(read):
    with pytest.raises(ValueError, match=r"'three hundred': the passage has .* the answer is nowhere in the"):
        read(changed(lambda question: question["answers"][0].update(text="three hundred")))
    with pytest.raises(ValueError, match="'308 Tische': the passage has '308 Stühle'"):
        read(changed(lambda question: question["answers"][0].update(text="308 Tische")))
    with pytest.raises(ValueError, match="the answer is empty"):
        read(changed(lambda question: question["answers"][0].update(text="")))


@pytest.mark.parametrize("key", ["id", "question", "answers"])
def test_a_missing_key_of_a_question_is_named_with_its_place(read, key):
    with pytest.raises(ValueError, match=rf"^qa.json, data\[0\]\.paragraphs\[0\]\.qas\[0\]: '{key}' is mis"):
        read(changed(lambda question: question.pop(key)))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({}, "qa.json: 'data' is missing: SQuAD's form is"),
        ([], "qa.json: 'data' is missing"),
        ({"data": {}}, "'data' is {}: give a list"),
        ({"data": [{}]}, r"data\[0\]: 'paragraphs' is missing"),
        ({"data": [{"paragraphs": [{"qas": []}]}]}, r"data\[0\].paragraphs\[0\]: 'context' is missing"),
        ({"data": [{"paragraphs": [{"context": "So."}]}]}, r"paragraphs\[0\]: 'qas' is missing"),
        ({"data": ["text"]}, r"data\[0\]: 'paragraphs' is missing"),
        ({"data": []}, "qa.json holds no question"),
        ("", r"qa.json cannot be read as JSON in UTF-8 \(Expecting value"),
        ('{"data": ', "cannot be read as JSON"),
        (changed(lambda q: q["answers"][0].pop("answer_start")), "'answer_start' is missing"),
        (
            changed(lambda q: q["answers"][0].update(answer_start="15")),
            "is '15': give a whole number",
        ),
        (
            changed(lambda q: q["answers"][0].update(answer_start=True)),
            "is True: give a whole number",
        ),
        (changed(lambda q: q.update(question=None)), "'question' is None: give a string"),
        (changed(lambda q: q.update(id="q2")), "two questions with the id 'q2'"),
        (changed(lambda q: q.update(answers=[])), "0 answers and is_impossible=False"),
        (changed(lambda q: q.update(is_impossible=True)), "2 answers and is_impossible=True"),
    ],
)
def test_what_is_not_in_the_form_is_refused_with_the_reason(read, content, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(content)


def test_a_file_in_another_encoding_or_not_there_is_refused(tmp_path):
    (tmp_path / "latin.json").write_bytes(json.dumps(CONTENT, ensure_ascii=False).encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin.json cannot be read as JSON in UTF-8"):
        read_squad(tmp_path / "latin.json")
    with pytest.raises(FileNotFoundError):
        read_squad(tmp_path / "nowhere.json")


def on_articles(articles: list[int]) -> list[Question]:
    return [Question(str(n), "Why?", "So.", article=article) for n, article in enumerate(articles)]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 4), st.integers(0, 9))
def test_no_article_is_in_two_parts_and_no_question_is_lost(articles, n_parts, seed):
    questions, n_articles = on_articles(articles), len(set(articles))
    shares = [1 / n_parts] * n_parts
    if n_articles < n_parts:
        with pytest.raises(ValueError, match="make the smallest larger"):
            split_by_article(questions, shares, np.random.default_rng(seed))
        return
    parts = split_by_article(questions, shares, np.random.default_rng(seed))
    owners = Counter(article for part in parts for article in {question.article for question in part})
    assert set(owners.values()) == {1}
    assert sorted((q for part in parts for q in part), key=lambda q: int(q.id)) == questions
    assert all(part == sorted(part, key=lambda q: int(q.id)) for part in parts)  # in their order
    assert all(abs(len({q.article for q in part}) - n_articles / n_parts) <= 1 for part in parts)


def test_a_split_is_drawn_by_the_generator_alone():
    questions = on_articles(list(range(48)) * 3)
    draws = [
        [
            [q.id for q in part]
            for part in split_by_article(questions, (0.8, 0.2), np.random.default_rng(seed))
        ]
        for seed in (0, 0, 1)
    ]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("shares", [(), (0.5, 0.6), (1.2, -0.2), (0.5, 0.5, 0.0)])
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(ValueError, match="give positive numbers whose sum is 1"):
        split_by_article(on_articles([0, 1, 2]), shares, np.random.default_rng(0))


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """The public data, through a cache of its own."""
    if not os.environ.get("BERTLAB_DATA_MIRROR"):
        pytest.skip("BERTLAB_DATA_MIRROR names no folder with the public data sets")
    monkeypatch.setenv("BERTLAB_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("mirror")
def test_xquad_is_read_whole_and_split_alike_in_every_language():
    split = {}
    for language in ("en", "de", "zh"):
        questions = read_xquad(language)
        assert (len(questions), len({q.article for q in questions})) == (1190, 48)
        assert {len(q.answers) for q in questions} == {1}
        parts = split_by_article(questions, (0.7, 0.1, 0.2), np.random.default_rng(0))
        assert [len({q.article for q in part}) for part in parts] == [34, 4, 10]
        split[language] = [[q.id for q in part] for part in parts]
    assert split["en"] == split["de"] == split["zh"]
    with pytest.raises(datasets.UnknownName, match=r"xquad.fr.json"):
        read_xquad("fr")
