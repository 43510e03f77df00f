"""Every hole that nbval leaves is planted in a small notebook: the gate names it, and nbval passes it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import gate

Build = Callable[[], NotebookNode]

# Each fault takes a good notebook and its cells by id, and breaks one thing in it.


def _stripped(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].update(outputs=[], execution_count=None)


def _out_of_order(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].execution_count = 7


def _picture_removed(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    del cells["toy-picture"].outputs[0].data["image/png"]


def _picture_of_a_view_removed(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells[
        "toy-picture"
    ].source = "see = show\nsee('one grey pixel')"  # a widget as last line has no show() either
    del cells["toy-picture"].outputs[0].data["image/png"]


def _picture_garbage(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-picture"].outputs[0].data["image/png"] = base64.b64encode(b"not a picture").decode()


def _picture_too_big(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    data = cells["toy-picture"].outputs[0].data
    image = base64.b64decode(data["image/png"])
    data["image/png"] = base64.b64encode(image[:33] + bytes(gate.MAX_PICTURE) + image[33:]).decode()


def _picture_without_alt(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-picture"].outputs[0].metadata = {}


def _did_not_raise(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-failure"].update(source="harmless = 1", outputs=[])


def _error_without_tag(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-failure"].metadata = {}


def _free_and_raising(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-failure"].source = "harmless = 1"
    cells["toy-failure"].metadata = {
        "tags": ["raises-exception", "nbval-ignore-output"],
        "bertlab": {"free": "the message differs between versions"},
    }


def _skipped(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].metadata = {"tags": ["nbval-skip"]}
    cells["toy-sum"].outputs[0].text = "3\n"


def _free_by_comment(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].source = "# NBVAL_IGNORE_OUTPUT\nprint(1 + 1)"
    cells["toy-sum"].outputs[0].text = "3\n"


def _free_without_reason(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].metadata = {"tags": ["nbval-ignore-output"]}


def _reason_without_tag(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].metadata = {"bertlab": {"free": "it is only a sum"}}


def _too_many_free(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    for count in range(6, 9):
        why = {"tags": ["nbval-ignore-output"], "bertlab": {"free": "the clock goes on"}}
        nb.cells.append(new_code_cell("pass", id=f"toy-free-{count}", execution_count=count, metadata=why))


def _widget_state(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    nb.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}


def _widget_view(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-picture"].outputs[0].data["application/vnd.jupyter.widget-view+json"] = {"model_id": "ab12"}


def _stderr(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].source = "import sys\nprint(1 + 1)\nprint('deprecated', file=sys.stderr)"
    cells["toy-sum"].outputs.append(new_output("stream", name="stderr", text="deprecated\n"))


def _svg(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    source = "from IPython.display import SVG, display\ndisplay(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'))"
    data = {"image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg"/>', "text/plain": "<IPython…>"}
    cells["toy-sum"].update(source=source, outputs=[new_output("display_data", data)])


def _script(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    html = "<script>draw()</script>"
    source = f"from IPython.display import display\ndisplay({{'text/html': {html!r}}}, raw=True)"
    cells["toy-sum"].update(source=source, outputs=[new_output("display_data", {"text/html": html})])


def _machine_path(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].source = "print('/home/ann/course')"
    cells["toy-sum"].outputs[0].text = "/home/ann/course\n"


def _address(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].source = "print(object())"
    cells["toy-sum"].outputs[0].text = "<object object at 0x7f00deadbeef>\n"


def _foreign_cell_metadata(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].metadata = {"execution": {"iopub.status.busy": "2026-01-01T00:00:00Z"}}


def _foreign_output_metadata(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-picture"].outputs[0].metadata["needs_background"] = "light"


def _foreign_notebook_metadata(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    nb.metadata.language_info["version"] = "3.11.7"


def _missing_id(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    del cells["toy-sum"]["id"]


def _double_id(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].id = "toy-picture"


def _generated_id(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].id = "3f6c1d2e"


def _generated_long_id(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].id = "0b2f3c1e-1111-4222-8333-944455566677"


def _foreign_note(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].metadata = {"bertlab": {"reason": "misspelt"}}


def _too_many_bytes(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-title"].source += "\n\n" + "long " * (gate.MAX_NOTEBOOK // 5)


def _old_format(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    nb.nbformat_minor = 4


def _long_cell(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-sum"].source = "print(1 + 1)" + "\n# and so on" * gate.MAX_LINES


def _empty_cell(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    nb.cells.append(new_code_cell(" \n", id="toy-empty", execution_count=6))


def _no_title(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    cells["toy-title"].source = "## A section"


def _two_titles(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    nb.cells.append(new_markdown_cell("# Another title", id="toy-again"))


def _heading_skipped(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    nb.cells.append(new_markdown_cell("#### Deep", id="toy-deep"))


def _unmarked_notes(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
    why = {"slideshow": {"slide_type": "notes"}}
    nb.cells.append(new_markdown_cell("Ask the room.", id="toy-notes", metadata=why))


# Holes: nbval passes them. The others it fails as well, or they are no business of its own.
HOLES = {
    _stripped: ("toy-sum", "was never run"),
    _picture_removed: ("toy-picture", "calls show() 1 times but 0 pictures are saved"),
    _picture_of_a_view_removed: ("toy-picture", "has lost its picture"),
    _picture_garbage: ("toy-picture", "no PNG"),
    _did_not_raise: ("toy-failure", "saved without an error"),
    _free_and_raising: ("toy-failure", "stops raising"),
    _skipped: ("toy-sum", "tagged nbval-skip"),
    _free_by_comment: ("toy-sum", "# NBVAL_IGNORE_OUTPUT"),
    _free_without_reason: ("toy-sum", "free without a reason"),
    _widget_state: ("notebook", "widget state"),
    _widget_view: ("toy-picture", "widget view"),
    _stderr: ("toy-sum", "stderr"),
    _machine_path: ("toy-sum", "path of one machine ('/home/ann/course"),
    _address: ("toy-sum", "memory address 0x7f00deadbeef"),
    _out_of_order: ("toy-sum", "ran as number 7 but stands as number 2"),
}
OTHERS = {
    _picture_too_big: ("toy-picture", "300,0"),
    _picture_without_alt: ("toy-picture", "without alternative text"),
    _error_without_tag: ("toy-failure", "saved with an error"),
    _reason_without_tag: ("toy-sum", "lacks the tag"),
    _too_many_free: ("notebook", "4 free cells, at most 3"),
    _svg: ("toy-sum", "type image/svg+xml"),
    _script: ("toy-sum", "script in its saved HTML"),
    _foreign_cell_metadata: ("toy-sum", "metadata execution"),
    _foreign_output_metadata: ("toy-picture", "metadata needs_background"),
    _foreign_notebook_metadata: ("notebook", "has metadata"),
    _missing_id: ("cell 3", "has no id"),
    _double_id: ("toy-picture", "id of two cells"),
    _generated_id: ("3f6c1d2e", "no one gave"),
    _generated_long_id: ("0b2f3c1e-1111-4222-8333-944455566677", "no one gave"),
    _foreign_note: ("toy-sum", "bertlab metadata reason"),
    _too_many_bytes: ("notebook", "at most 3,000,000"),
    _old_format: ("notebook", "format 4.4"),
    _long_cell: ("toy-sum", "has 41 lines, at most 40"),
    _empty_cell: ("toy-empty", "empty code cell"),
    _no_title: ("notebook", "does not open with its title"),
    _two_titles: ("notebook", "2 headings of level 1"),
    _unmarked_notes: ("toy-notes", "begin it with *For the lecturer.*"),
    _heading_skipped: ("notebook", "skips a heading level on its way to '####'"),
}


@pytest.fixture
def plant(good_notebook: Build) -> Callable[..., NotebookNode]:
    def plant(fault: Callable[[NotebookNode, dict[str, NotebookNode]], None]) -> NotebookNode:
        notebook = good_notebook()
        fault(notebook, {cell.id: cell for cell in notebook.cells})
        return notebook

    return plant


def test_a_good_notebook_has_no_fault(good_notebook, saved):
    assert gate.faults(saved(good_notebook())) == []


@pytest.mark.parametrize("fault", [*HOLES, *OTHERS], ids=lambda fault: fault.__name__.strip("_"))
def test_the_gate_names_the_planted_fault_and_no_other(fault, plant, saved):
    where, what = (HOLES | OTHERS)[fault]
    found = gate.faults(saved(plant(fault)))
    assert [at for at, _ in found] == [where] * len(found)
    assert any(what in said for _, said in found), found


@pytest.mark.slow
def test_nbval_alone_passes_every_hole_and_fails_what_is_left_to_it(
    plant, good_notebook, saved, nbval, tmp_path
):
    def wrong_number(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
        cells["toy-sum"].outputs[0].text = "3\n"

    def raises_no_more(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
        cells["toy-failure"].source = "harmless = 1"  # its saved output still shows the error

    def raises_another(nb: NotebookNode, cells: dict[str, NotebookNode]) -> None:
        cells["toy-failure"].source = "raise ValueError('too short')"

    for fault in [*HOLES, wrong_number, raises_no_more, raises_another]:
        (tmp_path / f"{fault.__name__}.ipynb").write_text(saved(plant(fault)))
    (tmp_path / "good.ipynb").write_text(saved(good_notebook()))

    failed = {name: cells for name, cells in nbval(tmp_path).items() if cells}

    assert failed == {
        "wrong_number": ["toy-sum"],
        "raises_no_more": ["toy-failure"],
        "raises_another": ["toy-failure"],
    }


def test_any_other_form_of_the_same_json_is_refused(good_notebook, saved):
    text = saved(good_notebook())
    for other in (text.rstrip("\n"), text.replace('\n "', '\n  "', 1), json.dumps(json.loads(text))):
        assert [where for where, _ in gate.faults(other)] == ["notebook"]
        assert "as nbformat writes it" in gate.faults(other)[0].what


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"cells": 3, "metadata": {}}', '{"cells": [{}], "metadata": {}}']
)
def test_a_file_that_is_no_notebook_is_one_fault(text):
    assert [where for where, _ in gate.faults(text)] == ["notebook"]


def test_a_show_inside_a_function_is_not_a_picture_of_the_cell_that_defines_it():
    assert gate._calls_of_show("def draw():\n    plt.show()\n%timeit 1\nviz.show(a, alt='b'); show(c)") == 2


def test_a_hash_in_a_fenced_block_is_no_heading(good_notebook, saved):
    notebook = good_notebook()
    notebook.cells[0].source += "\n\n```python\n# a comment\n#### another\n```\n\n### Below"
    assert gate.faults(saved(notebook)) == []


def test_the_command_names_file_cell_and_fix_and_lists_the_free_cells(
    good_notebook, plant, saved, tmp_path: Path, capsys
):
    (tmp_path / "good.ipynb").write_text(saved(good_notebook()))
    assert gate.main([str(tmp_path)]) == 0
    assert "good.ipynb, toy-time: the clock goes on" in capsys.readouterr().out

    (tmp_path / "bad.ipynb").write_text(saved(plant(_stripped)))
    assert gate.main([str(tmp_path), str(tmp_path / "none.ipynb")]) == 1
    said = capsys.readouterr().out
    assert "bad.ipynb, toy-sum: was never run" in said
    assert "none.ipynb: cannot be read" in said
    assert "3 notebooks, 2 refused" in said
