"""Claims about reading the grammar of the synthetic stories."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest

from bertlab.datasets.stories import GrammarError, default_grammar, read_grammar, sample_stories
from tests.datasets.small_grammar import TEXT, small_grammar

HEAD = TEXT.split("plot fishing")[0]


def line_of(template):
    return " ".join("|".join(slot.words) for slot in template.slots)


def test_the_signs_mean_what_the_grammar_page_says():
    grammar = small_grammar()
    said = {line_of(template): template for template in grammar.templates}
    template = said["Ada|Eva|Tom saw an|a eel|carp ."]
    assert template.pos == ("PROPN", "VERB", "DET", "NOUN", "PUNCT")
    assert template.entities == ("B-PER", "O", "O", "O", "O")
    assert template.literal_senses == {1: "see"}
    assert template.names == {"friend": (0, 1), "animal": (3, 4)}
    bay = said["Ada|Eva|Tom met Ada|Eva|Tom in North|South Bay ."]
    assert bay.entities[-3:] == ("B-LOC", "I-LOC", "O")
    assert bay.names["town"] == (4, 6)
    assert "She|He laughed loudly|softly ." in said


def test_alternatives_are_as_likely_as_one_over_their_rank():
    grammar = read_grammar([HEAD + "plot p t\nstage\n{hero} [fished|waited|laughed] there ."])
    shares = [share for share, _ in grammar.templates[0].slots[1].words.values()]
    assert shares == pytest.approx([6 / 11, 3 / 11, 2 / 11])


def test_a_stage_with_a_question_mark_is_left_out_half_of_the_time():
    grammar = read_grammar(
        [HEAD + "plot p t\nstage\n{hero} waited .\nstage?\n{hero} cried .\nstage?\n{hero} met ."]
    )
    assert [p for _, p in grammar.starts] == [0.5, 0.5]
    assert grammar.following[0] == ((1, 0.5), (2, 0.25))
    assert grammar.ends[:3] == (0.25, 0.5, 1.0)


def test_mood_marks_keep_a_sentence_to_its_mood():
    grammar = small_grammar()
    for cell in grammar.cells:
        for template in cell.templates:
            assert ("cried" in line_of(template)) <= (cell.mood == 0)


def test_two_people_of_a_story_are_never_the_same():
    for story in sample_stories(np.random.default_rng(0), 300):
        assert story.values["hero"] != story.values["friend"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{nobody} waited .", r"'\{nobody\} waited .': 'nobody' is not known there"),
        ("{hero} went .", "no part of speech for went"),
        ("{hero} saw the carp .", "saw has two senses: choose tool or see"),
        ("{hero} saw:hear it .", "'hear' is not known there"),
        ("{hero} [met|there] .", "mixes parts of speech"),
        ("{hero} [met|met] .", "says a word twice"),
        ("{animal.he} met .", "'' is not known there"),
        ("@nothing", "'nothing' is not known there"),
        ("? Who met ?", "'\\? Who met \\?'"),
        ("? Who met ? = nobody", "'nobody' is not known there"),
        ("pos WORD: x", "WORD is no part of speech"),
        ("domain d O NOUN: a b, c", "differ in their number of words"),
        ("distinct hero town", "hero and town are of different domains"),
    ],
)
def test_a_line_that_says_something_impossible_is_named(line, words):
    with pytest.raises(GrammarError, match=words):
        read_grammar([HEAD + "plot p t\nstage\n{hero} waited .\n" + line])


def test_a_stage_must_have_something_to_say_in_every_mood():
    with pytest.raises(GrammarError, match="a stage of p has no sentence in positive mood"):
        read_grammar([HEAD + "plot p t\nstage\n- {hero} waited ."])


def test_a_sentence_needs_a_stage():
    with pytest.raises(GrammarError, match="needs a group or a stage before it"):
        read_grammar([HEAD.split("group")[0] + "plot p t\n{hero} waited ."])


def test_the_lexicon_holds_no_word_that_no_story_says():
    text = resources.files("bertlab.datasets").joinpath("story_plots/lexicon.txt").read_text("utf-8")
    listed = {
        w for line in text.splitlines() if line.startswith("pos") for w in line.split(": ", 1)[1].split()
    }
    said = {
        word for template in default_grammar().templates for slot in template.slots for word in slot.words
    }
    assert listed <= said | {word[0].lower() + word[1:] for word in said}


def test_no_file_of_the_grammar_is_longer_than_one_sitting():
    folder = resources.files("bertlab.datasets").joinpath("story_plots")
    assert max(len(entry.read_text("utf-8").splitlines()) for entry in folder.iterdir()) <= 300
