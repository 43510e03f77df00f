"""The assignments: whole sources, just points, and a sentence for each typical mistake."""

from __future__ import annotations

from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import assignments
from assignments import STUB, answers, due, hand_in, kind, names, source

BODY = assignments.re.compile(
    r"^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION", assignments.re.MULTILINE | assignments.re.DOTALL
)


def released(name: str) -> Any:
    """What nbgrader makes of a source, as far as it matters here."""
    notebook = source(name)
    for cell in notebook.cells:
        cell.source = assignments.HIDDEN.sub("", BODY.sub(rf"\1{STUB}", cell.source))
    return notebook


def points(name: str, handed: Any) -> tuple[int, dict[str, str]]:
    """Run what was handed in against the tests of the source; points, and what failed tests say."""
    tests = {cell.id: cell.source for cell in source(name).cells if kind(cell) == "test"}
    got, said, world = 0, {}, dict[str, Any]()
    for cell in handed.cells:
        if cell.cell_type != "code":
            continue
        try:
            exec(compile(tests.get(cell.id, cell.source), cell.id, "exec"), world)
            got += cell.metadata.nbgrader.points if cell.id in tests else 0
        except Exception as error:
            said[cell.id] = f"{type(error).__name__}: {error}"
    return got, said


@pytest.mark.parametrize("name", names())
def test_a_source_is_whole(name):
    notebook = source(name)
    kinds = [kind(cell) for cell in notebook.cells]
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert all(cell.metadata.nbgrader.grade_id == cell.id for cell in notebook.cells if kind(cell))
    assert sum(cell.metadata.nbgrader.get("points", 0) for cell in notebook.cells if kind(cell)) == 20
    assert kinds.count("manual") == 1
    for cell in notebook.cells:
        if kind(cell) == "answer":
            assert cell.source.count("### BEGIN SOLUTION") == cell.source.count("### END SOLUTION") > 0
        if kind(cell) == "test":
            assert (
                cell.source.count("### BEGIN HIDDEN TESTS") == cell.source.count("### END HIDDEN TESTS") == 1
            )
            assert cell.source.count("assert ") >= 3
        assert cell.get("outputs", []) == []


@pytest.mark.parametrize("name", names())
def test_a_release_shows_no_solution_and_no_hidden_test(name):
    shown = "\n".join(cell.source for cell in released(name).cells)
    assert "SOLUTION" not in shown
    assert "HIDDEN" not in shown
    assert shown.count(STUB) == sum(cell.source.count("BEGIN SOLUTION") for cell in source(name).cells)


@pytest.mark.parametrize(("student", "expected"), [("right", 17), ("half", 9), ("empty", 0)])
def test_attention_gives_each_student_the_points_that_are_due(student, expected):
    solved = source("build_attention")
    handed = hand_in(student, released("build_attention"), solved)
    assert due(student, solved) == expected
    assert points("build_attention", handed)[0] == expected


@pytest.mark.slow
@pytest.mark.parametrize(("student", "expected"), [("right", 17), ("half", 8), ("empty", 0)])
def test_bert_gives_each_student_the_points_that_are_due(student, expected):
    solved = source("build_bert")
    handed = hand_in(student, released("build_bert"), solved)
    assert due(student, solved) == expected
    assert points("build_bert", handed)[0] == expected


@pytest.mark.parametrize(
    ("name", "right", "wrong", "sentence"),
    [
        (
            "build_attention",
            "axis=-1, keepdims=True)\n    return powers",
            "axis=0, keepdims=True)\n    return powers",
            "columns sum to 1",
        ),
        ("build_attention", "np.where(np.isinf(peak), 0.0, peak)", "0.0", "largest score off"),
        ("build_attention", "np.where(total == 0.0, 1.0, total)", "total", "NaN in row 1"),
        ("build_attention", " / math.sqrt(q.shape[-1])", "", "not divided by the root"),
        ("build_attention", "math.sqrt(q.shape[-1])", "q.shape[-1]", "not by d_k"),
        ("build_attention", "np.where(mask, scores", "np.where(~mask, scores", "what the mask hides"),
        (
            "build_attention",
            "x.reshape(T, n_heads, D // n_heads).swapaxes(0, 1)",
            "x.reshape(n_heads, T, D // n_heads)",
            "reshape alone",
        ),
        (
            "build_attention",
            "w * (g - (g * w).sum(axis=-1, keepdims=True))",
            "g * w * (1 - w)",
            "moves the other weights",
        ),
        ("build_bert", " + self.position(places)", "", "where is the position"),
        ("build_bert", "self.norm(self.token(ids)", "(self.token(ids)", "no LayerNorm at the end"),
        ("build_bert", "nn.GELU()", "nn.ReLU()", "GELU, not ReLU"),
        ("build_bert", "self.attention(x, x, x, mask)", "self.attention(x, x, x)", "padding comes through"),
        ("build_bert", " & ordinary", "", "a special piece was chosen"),
        ("build_bert", "chosen & (lot < 0.8)", "chosen", "every chosen piece became [MASK]"),
        (
            "build_bert",
            "logits[asked], labels[asked]",
            "logits.flatten(0, 1), labels.flatten().clamp(0)",
            "are not asked for count",
        ),
    ],
)
def test_a_typical_mistake_is_named(name, right, wrong, sentence):
    handed = hand_in("right", released(name), source(name))
    if name == "build_bert":  # what is trained is not asked about here
        handed.cells = [cell for cell in handed.cells if not cell.id.startswith("bert-5")]
    assert sum(right in cell.source for cell in handed.cells if kind(cell) == "answer") == 1
    for cell in handed.cells:
        if kind(cell) == "answer":
            cell.source = cell.source.replace(right, wrong)
    assert sentence in " ".join(points(name, handed)[1].values())


def test_what_grading_needs_is_pinned_within_its_range():
    lines = (assignments.SOURCES / "requirements.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    project = assignments.gate.ROOT / "pyproject.toml"
    (line,) = (line for line in project.read_text().splitlines() if line.startswith("grading = "))
    requirement = Requirement(line.split('"')[1])
    assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)])


def test_without_nbgrader_the_command_is_named(tmp_path, capsys):
    assert assignments.main(["--nbgrader", str(tmp_path / "nbgrader")]) == 1
    assert "run `make assignment`" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not assignments.PROGRAM.is_file(), reason="`make assignment` installs nbgrader")
def test_nbgrader_gives_each_student_the_points_that_are_due(tmp_path, capsys):
    assert assignments.main(["--out", str(tmp_path / "course"), "build_attention"]) == 0
    said = capsys.readouterr().out
    assert "build_attention, right: 17.0 points, 17 are due" in said
    assert "build_attention, half: 9.0 points, 9 are due" in said
    assert "build_attention, empty: 0.0 points, 0 are due" in said
    assert answers(source("build_attention"))
