"""How Sphinx makes the site of what tools/build_site.py has laid out. Nothing is run, nothing is fetched."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxTranslator

ROOT = next(path for path in Path(__file__).resolve().parents if (path / "pyproject.toml").exists())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

project = "bertlab"
author = "the bertlab authors"
project_copyright = "texts and pictures CC BY 4.0, code MIT"
release = PROJECT["version"]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
exclude_patterns: list[str] = []

nb_execution_mode = "off"  # the outputs are those that are saved, and that the tests compare
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # they would come from the network; our widgets need none
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # they stand in the signature of the source; shapes are in the text
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
# As fields, these would make a link of every name, to one of its namesakes.
napoleon_custom_sections = [("Attributes", "params_style"), ("Raises", "params_style")]

html_theme = "sphinx_book_theme"
html_context = {"default_mode": "auto"}
html_title = "bertlab"
html_static_path = ["_static"]
html_css_files = ["course.css"]
html_js_files = [("course.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "repository_url": PROJECT["urls"]["Repository"],
    "repository_branch": "main",
    "path_to_docs": "",  # the notebooks' pages have the addresses of their files
    "launch_buttons": {
        "binderhub_url": "https://mybinder.org",
        "notebook_interface": "jupyterlab",
        "colab_url": "https://colab.research.google.com",
    },
    "use_repository_button": True,
    "use_issues_button": True,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "navbar_persistent": [],  # one field to search in is enough
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "home_page_in_toc": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def visit_math(self: SphinxTranslator, node: nodes.math) -> None:
    """A formula as MathML: browsers draw it themselves, so there is no script and no font to fetch."""
    self.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def visit_math_block(self: SphinxTranslator, node: nodes.math_block) -> None:
    """A formula on lines of its own; a wide one can be scrolled."""
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>\n')
    raise nodes.SkipNode


def as_rst(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Make reStructuredText of our docstrings, which write code in single backticks, and n_ as it is."""
    text = re.sub(r"(?<!:):(?=\n\n {4}\S)", "::", "\n".join(lines))  # what is set in is shown as it is
    text = re.sub(r"(?<!`)`([^`\n]+)`(?![`_])", r"``\1``", text)
    parts = re.split(r"(``.+?``)", text)
    parts[::2] = [re.sub(r"(?<=\w)_(?!\w)", r"\_", part) for part in parts[::2]]  # n_ would be a link
    lines[:] = "".join(parts).split("\n")


def setup(app: Sphinx) -> None:
    """What Sphinx does not do by itself."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("autodoc-process-docstring", as_rst, priority=400)  # before napoleon, which is at 500


html_math_renderer = "mathml"
