"""Sphinx configuration. `make docs` builds the pages into docs/_build/html, without network access."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # the extension `generated`; the checkout, installed or not

from sphinx.ext.napoleon.docstring import GoogleDocstring  # noqa: E402

import easyenvs  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "easyenvs"
author = "easyenvs maintainers"
copyright = author
release = version = easyenvs.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "generated"]
exclude_patterns = ["_build"]
smartquotes_action = "D"  # dashes only: a quotation mark in a table of options belongs to the value
# Docstrings put code into single backticks, as Markdown does.
default_role = "code"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings state dtypes and shapes, which annotations cannot

html_theme = "furo"
html_title = f"easyenvs {release}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "native"

A_LETTER_ALONE = re.compile(r"(?:(?<=: )|(?<=^   ))[A-Z]\.$")
"""`num_games: N.` is a name, and not the beginning of an enumeration."""


def without_changelog(app: Sphinx, docname: str, source: list[str]) -> None:
    """The changelog's page includes ../CHANGELOG.md, which not every source tree has."""
    if docname == "changelog" and not (HERE.parent / "CHANGELOG.md").is_file():
        source[0] = "# Changelog\n\nThis source tree has none.\n"


def google_sections(app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    """`Args:`, `Raises:` and `Attributes:` of docstrings.

    Napoleon's class without its extension, which would take the words before the first colon of a property's docstring
    for its type.
    """
    kind: Any = "method" if what == "property" else what
    made = GoogleDocstring(lines, None, None, kind, name, obj, options).lines()
    lines[:] = [A_LETTER_ALONE.sub(r"\\\g<0>", line) for line in made]


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", google_sections)
    app.connect("source-read", without_changelog)
