"""Claims about how a difference between tokenizers is explained."""

from __future__ import annotations

from tokenizer_agreement import explain, texts_in

RULES = {"x": lambda text: text.replace("x", ""), "y": lambda text: text.replace("y", "")}


def test_a_difference_is_explained_by_the_rule_without_whose_characters_it_is_gone():
    assert explain("axby", lambda text: "x" not in text, RULES) == "x"
    assert explain("axby", lambda text: "y" not in text, RULES) == "y"
    assert explain("axby", lambda text: not set("xy") & set(text), RULES) == "x + y"


def test_a_difference_that_no_rule_takes_away_is_called_unexplained():
    assert explain("axz", lambda text: "z" not in text, RULES) == "unexplained"
    assert explain("z", lambda text: "z" not in text, RULES) == "unexplained"


def test_every_text_in_a_json_file_is_found():
    assert list(texts_in({"a": ["b", {"c": "d", "e": 1}], "f": "g"})) == ["b", "d", "g"]
