"""The house of design.md: which room may import which, what stands beside what, and how long a file may be.

An arrow goes down only: notebooks and experiments → tasks, training, interop → nn, text, datasets → nothing
of ours. `reference` and `viz` stand alone, `classroom` may use anything below the notebooks.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]

BOTTOM = {"nn", "text", "datasets"}
ALONE = {"reference", "viz"}
MIDDLE = {"tasks", "training", "interop"}
BELOW: dict[str, set[str]] = {
    **{name: set() for name in BOTTOM | ALONE},
    **dict.fromkeys(MIDDLE, BOTTOM),
    "tasks": BOTTOM | {"training", "interop"},  # fine-tuning is training by the same loop, saved as all is
    "classroom": BOTTOM | ALONE | MIDDLE,
    "__init__": BOTTOM | ALONE | MIDDLE | {"classroom"},
    "__main__": BOTTOM | ALONE | MIDDLE | {"classroom", "__init__"},
}
OUTSIDE = {"notebooks", "experiments", "benchmarks", "tests", "tools"}

MAX_LINES = 300


def modules(package: Path) -> dict[str, ast.Module]:
    """Every module of a package, by its dotted name."""
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(), filename=str(path))
    return found


def imports(name: str, tree: ast.Module, known: set[str]) -> set[str]:
    """Modules of ours that a module imports, wherever in its text, relative imports resolved.

    `from bertlab.nn import attention` is the module bertlab.nn.attention if there is one, else bertlab.nn.
    """
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                is_package = any(other.startswith(f"{name}.") for other in known)
                parents = name.split(".")[: len(name.split(".")) - node.level + is_package]
                base = ".".join([*parents, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                found.add(full if full in known else base)
    top = name.partition(".")[0]
    return {other for other in found if other.partition(".")[0] in {top, *OUTSIDE}} - {name}


def room(name: str) -> str:
    """Room of a module: bertlab.nn.attention is in nn, bertlab itself in __init__."""
    return (*name.split("."), "__init__")[1]


def arrows_up(package: Path) -> list[str]:
    """Every import that runs against the arrows."""
    trees = modules(package)
    wrong = []
    for name, tree in trees.items():
        own = room(name)
        if own not in BELOW:
            wrong.append(f"{name} is in a room that design.md does not know")
            continue
        for other in sorted(imports(name, tree, set(trees))):
            outside = other.partition(".")[0] in OUTSIDE
            if outside or room(other) not in BELOW[own] | {own}:
                wrong.append(f"{name} imports {other}")
    return wrong


def cycle(package: Path) -> list[str]:
    """One chain of modules that import each other in a circle, or an empty list."""
    trees = modules(package)
    graph = {name: imports(name, tree, set(trees)) for name, tree in trees.items()}
    done: set[str] = set()

    def walk(name: str, chain: list[str]) -> list[str]:
        if name in chain:
            return [*chain[chain.index(name) :], name]
        if name in done:
            return []
        found = next((c for other in sorted(graph.get(name, ())) if (c := walk(other, [*chain, name]))), [])
        done.add(name)
        return found

    return next((found for name in sorted(graph) if (found := walk(name, []))), [])


def test_imports_run_down_the_arrows_only():
    assert arrows_up(ROOT / "bertlab") == []


def test_no_modules_import_each_other_in_a_circle():
    assert cycle(ROOT / "bertlab") == []


@pytest.mark.parametrize(
    ("path", "line", "arrow"),
    [
        ("nn/a.py", "from bertlab.training import loop", "bertlab.nn.a imports bertlab.training"),
        ("nn/a.py", "from ..training import loop", "bertlab.nn.a imports bertlab.training"),
        ("nn/a.py", "import bertlab.viz.figures", "bertlab.nn.a imports bertlab.viz.figures"),
        ("nn/a.py", "from bertlab import best_device", "bertlab.nn.a imports bertlab"),
        ("nn/a.py", "def f():\n    from bertlab.text import vocabulary", "bertlab.nn.a imports bertlab.text"),
        ("reference/a.py", "from bertlab.nn import attention", "bertlab.reference.a imports bertlab.nn"),
        ("viz/a.py", "from bertlab.reference import attention", "bertlab.viz.a imports bertlab.reference"),
        ("training/a.py", "from bertlab.tasks import entities", "bertlab.training.a imports bertlab.tasks"),
        ("tasks/a.py", "import experiments.common", "bertlab.tasks.a imports experiments.common"),
        ("extras/a.py", "", "bertlab.extras.a is in a room that design.md does not know"),
    ],
)
def test_a_planted_import_against_the_arrows_is_named(tmp_path, path, line, arrow):
    file = tmp_path / "bertlab" / path
    file.parent.mkdir(parents=True)
    (file.parent / "__init__.py").touch()
    file.write_text(line)
    assert [said for said in arrows_up(tmp_path / "bertlab") if said.startswith(arrow)]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("training/a.py", "from bertlab.nn.attention import attend\nfrom bertlab.text import vocabulary"),
        ("classroom/a.py", "from bertlab.reference import attention\nfrom . import b"),
        ("nn/a.py", "import torch\nfrom . import b\nfrom .b import c\nfrom bertlab.nn.b import c"),
        ("__main__.py", "import bertlab\nfrom bertlab.datasets import fetch"),
    ],
)
def test_an_import_down_the_arrows_is_let_pass(tmp_path, path, line):
    file = tmp_path / "bertlab" / path
    file.parent.mkdir(parents=True)
    (file.parent / "__init__.py").touch()
    (file.parent / "b.py").touch()
    file.write_text(line)
    assert [
        said for said in arrows_up(tmp_path / "bertlab") if ".b " not in said and "bertlab.b" not in said
    ] == []


def test_a_planted_circle_is_named(tmp_path):
    package = tmp_path / "bertlab" / "nn"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name, other in ("ab", "bc", "ca"):
        (package / f"{name}.py").write_text(f"from bertlab.nn.{other} import f")
    assert cycle(tmp_path / "bertlab") == ["bertlab.nn.a", "bertlab.nn.b", "bertlab.nn.c", "bertlab.nn.a"]


WINGS = [
    "attention",
    "bert",
    "bert_heads",
    "bidirectional_lm",
    "character_cnn",
    "decoder",
    "elmo",
    "encoder",
    "feed_forward",
    "functional",
    "glove",
    "gpt",
    "highway",
    "language_model",
    "masking",
    "negative_sampling",
    "nnlm",
    "positions",
    "recurrent",
    "residual",
    "scalar_mix",
    "sublayers",
    "word2vec",
]


def arguments(module: ModuleType, name: str) -> list[str] | None:
    """Argument names of a function of a module; None if there is no such function."""
    function = getattr(module, name, None)
    return list(inspect.signature(function).parameters) if inspect.isfunction(function) else None


def offered(module: ModuleType) -> set[str]:
    """Public functions written in a module, or named by its `__all__`."""
    return {
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and (value.__module__ == module.__name__ or name in getattr(module, "__all__", ()))
        and not name.startswith("_")
    }


@pytest.mark.parametrize("name", WINGS)
def test_the_two_wings_call_one_concept_by_one_name_with_the_same_arguments(name):
    reference = importlib.import_module(f"bertlab.reference.{name}")
    nn = importlib.import_module(f"bertlab.nn.{name}")
    concepts = sorted(f for f in offered(reference) | offered(nn) if hasattr(reference, f"{f}_vjp"))
    assert concepts
    assert {f: arguments(nn, f) for f in concepts} == {f: arguments(reference, f) for f in concepts}


def sources() -> list[Path]:
    return sorted((ROOT / "bertlab").rglob("*.py"))


def test_no_file_is_longer_than_one_sitting():
    long = {
        str(p.relative_to(ROOT)): n for p in sources() if (n := len(p.read_text().splitlines())) > MAX_LINES
    }
    assert long == {}, f"split them: at most {MAX_LINES} lines a file"


def test_every_module_has_its_tests_under_the_mirrored_name():
    """Its own, those of both wings, or those of a module of its room that is built of it."""
    trees = {name: tree for name, tree in modules(ROOT / "bertlab").items() if name.count(".") == 2}

    def tested(name: str) -> bool:
        own, last = name.split(".")[1:]
        return any((ROOT / "tests" / folder / f"test_{last}.py").exists() for folder in (own, "wings"))

    users = {name: imports(name, tree, set(trees)) for name, tree in trees.items() if tested(name)}
    untested = [
        name
        for name in trees
        if not tested(name)
        and not any(name in used and room(user) == room(name) for user, used in users.items())
    ]
    assert untested == []
