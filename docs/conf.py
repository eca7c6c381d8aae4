"""Builds the pages as HTML: ``make docs-html``. The navigation is made of the lists of links in the indices."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from sphinx.application import Sphinx

_PROJECT = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
_SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n)*)", re.MULTILINE)
_PAGE = re.compile(r"^- \[([^\]]+)\]\(([^)#]+)\.md\)", re.MULTILINE)

project = _PROJECT["name"]
version = release = _PROJECT["version"]
author = "the authors of ics-recorder"
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4  # headings are targets of links, as on code hosts
suppress_warnings = ["misc.highlighting_failure"]  # outputs with elisions are not valid JSON
html_theme = "furo"
html_title = f"{project} {version}"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}


def _add_navigation(_app: Sphinx, name: str, source: list[str]) -> None:
    """Append one table of contents for each section of an index, so that its Markdown stays plain."""
    if name not in ("index", "development", "protocol/index"):
        return
    for title, links in _SECTION.findall(source[0]):
        pages = "".join(f"{label} <{page}>\n" for label, page in _PAGE.findall(links))
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}```\n"


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _add_navigation)
