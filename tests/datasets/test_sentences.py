"""Claims about cutting paragraphs into sentences; / marks where they are to be cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.datasets.sentences import split_sentences

HARD = {
    "titles": "I saw Mr. Holmes and Mrs. Hudson. / Dr. Watson was out. / DR. SEWARD wrote.",
    "saints": "He came from St. Ives to Mt. Blanc. / So did Messrs. Hall and Co. of Leeds.",
    "initials": "H. G. Wells met J. Verne. / They talked.",
    "an initial in the middle": "John F. Kennedy spoke. / All listened.",
    "abbreviations": "Things, e.g. Apples, i.e. Fruit, fell. / They rolled.",
    "numbers": "See No. 5 and vol. 2 on p. 17. / It costs 3.50 now. / 20 men came.",
    "no, not a number": "He said no. / No. / Nobody knew.",
    "I, not an initial": "It is I. / So am I. / He laughed.",
    "small letters go on": "What! all my pretty chickens? said he. / Yes.",
    "a speech that goes on": '"Are you mad?" he asked. / "No!" cried Tom.',
    "who speaks, by name": '"Stop!" Tom cried. / "Why?" Mr. Brown asked. / "So!" / Nobody moved.',
    "a new sentence in a speech": '"I am here. / You are there," he said. / "Go!" / She went.',
    "a quotation that closes": 'He said "Go." / "No," she said.',
    "single quotes": "'Come in.' / 'I will,' said Kim. / 'Now!'",
    "curly quotes": "“Come in.” / “No!” / He left.",
    "brackets": "It rained. / (It always did.) / We stayed [as usual]. / Then we left.",
    "three points": "He waited... and waited. / He slept... / The clock struck.",
    "points apart": "He waited . . . and waited. / He slept . . . / The clock struck.",
    "the sign": "He paused… then ran. / He fell… / Silence.",
    "three points before I": "Well... I do not know. / Well… I am not sure.",
    "more marks": "What?! / Never!! / He ran.",
    "a dash": "He ran--he flew. / Then--silence.",
    "one sentence": "No end at all",
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_hard_cases(text):
    assert split_sentences(text.replace(" /", "")) == text.split(" / ")


def test_nothing_gives_no_sentence():
    assert split_sentences("") == split_sentences("   ") == []


@given(st.text(alphabet="aB.!?…\"'() Mr1\t", max_size=60))
def test_no_character_is_lost_and_no_sentence_is_empty(text):
    sentences = split_sentences(text)
    assert all(sentence.strip() == sentence != "" for sentence in sentences)
    assert re.sub(r"\s", "", "".join(sentences)) == re.sub(r"\s", "", text)


def test_a_long_paragraph_takes_no_time():
    assert len(split_sentences("It was Mr. B. . . . and so on. " * 20_000)) >= 20_000
    assert len(split_sentences("." * 100_000)) == 1
