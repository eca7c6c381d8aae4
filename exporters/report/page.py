"""What all pages share: templates, escaping, texts, and the content policy.

Three measures keep text of a log from becoming code in the reader's browser. Every value is escaped (Jinja2's
autoescape is never switched off). Control characters and those that change the direction of writing are written out
(``visible``). The page's Content-Security-Policy names the hashes of its one style sheet and its one script, or the
site that has them: nothing else is applied, run, fetched or sent, and no text can become markup (Trusted Types).
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import unescape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from exporters.pgn.tags import decoded
from recorder.errors import ExportError
from recorder.model import EXACT, Ply
from recorder.text import plural
from recorder.times import printed_clock

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


class BarItem(NamedTuple):
    """What the bar at the top contains, without ``href`` as text; ``at_ply``: the address gets the shown half-move."""

    text: str
    href: str | None = None
    rel: str = ""
    here: bool = False
    at_ply: bool = False


class Site(Protocol):
    """Addresses of a site's pages. None: the site has no such page."""

    @property
    def home(self) -> str:
        """The address of the first page."""

    @property
    def assets(self) -> str:
        """The address of the folder with its styles, scripts and drawings."""

    @property
    def bar(self) -> Sequence[BarItem]:
        """The bar of the page."""

    @property
    def picture(self) -> str | None:
        """The whole address of a picture of the page's game, for previews of links."""

    def game(self, key: str, ply: int | None = None) -> str | None:
        """The page of a game."""

    def position(self, key: str, ply: int | None = None) -> str | None:
        """The explorer of a position of a game of normal chess."""

    def player(self, handle: str, server: str | None) -> str | None:
        """The page of a player."""

    def lines(self, key: str, sha256: str) -> str | None:
        """Return the page of a game's lines in one of its logs; None: they are not shown."""

    def games(self, **filters: str) -> str | None:
        """The list of the games that match filters, by the names that they have in addresses."""


PIECES = {"K": "king", "Q": "queen", "R": "rook", "B": "bishop", "N": "knight", "P": "pawn"}
_LONGEST_NAME = 40
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def visible(text: str) -> str:
    r"""Write out what is not printable, or changes the direction of writing: ``\x1b``, ``\u202e``."""
    text = decoded(text)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def plain_name(text: str) -> str:
    """A handle, its middle omitted if it is as long as no server allows; ``(no name)`` for a blank one."""
    if len(text) > _LONGEST_NAME:
        text = f"{text[: _LONGEST_NAME - 10]}…{text[-9:]}"
    return text if text.strip() else "(no name)"


def clock_text(ms: int | None, exact: bool) -> str:
    """As ``4:57.338``, ``1:04:57``; unknown is a dash. ``exact``: the server printed thousandths."""
    return "–" if ms is None else printed_clock(ms, exact).replace("-", "−")


def tenths_text(ms: int, exact: bool) -> str:
    """A clock as lists have it: cut to tenths, as clocks are, where thousandths were printed."""
    return printed_clock(ms, exact, tenths=True).replace("-", "−")


def number_text(ply: int) -> str:
    """``12.`` for White's move, ``12…`` for Black's."""
    return f"{(ply + 1) // 2}{'.' if ply % 2 else '…'}"


def is_exact(ply: Ply) -> bool:
    return ply.precision_code in EXACT


def spoken_duration(ms: int) -> str:
    """``1 minute 4 seconds``; below ten seconds with one decimal unless it is whole."""
    if abs(ms) < 10_000 and ms % 1000:
        return f"{ms / 1000:.1f} seconds"
    seconds = abs(ms) // 1000
    parts = []
    for size, word in ((3600, "hour"), (60, "minute"), (1, "second")):
        value, seconds = divmod(seconds, size)
        if value:
            parts.append(plural(value, word))
    return ("minus " if ms < 0 else "") + (" ".join(parts) or "0 seconds")


_TEMPLATES = Path(__file__).parent / "templates"
_MISSING = "A report needs Jinja2: pip install 'ics-recorder[report]'."
# What could end a script element or be taken for a line's end by JavaScript.
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&'\u2028\u2029"}


_PIECES_AT_ONCE = 1000


def trusted(text: str) -> Markup:
    """Markup that this program made itself; never for text of a log."""
    try:
        from markupsafe import Markup
    except ImportError as error:
        raise ExportError(_MISSING) from error
    return Markup(text)


def island(data: object) -> Markup:
    """Data for the page's script, as JSON that cannot end its element; every text in it is made visible."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if not (text.isascii() and text.isprintable()) or "\\" in text:
        text = json.dumps(_seen(data), ensure_ascii=False, separators=(",", ":"))
    return trusted(text.translate(_ESCAPES))


def render_page(
    template: str,
    values: Mapping[str, object],
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: object = None,
    site: Site | None = None,
    folder: Path | None = None,
) -> bytes:
    """Make a page; the same arguments give the same bytes. A page of a ``site`` loads style and script as files."""
    folders = (_TEMPLATES,) if folder is None else (folder, _TEMPLATES)
    sheets = ("base.css", *styles) if site is None else ("base.css", *styles, "site.css")
    style = "\n".join(_asset(name, folders) for name in sheets)
    script = "\n".join(_asset(name, folders) for name in scripts)
    page = (
        _environment(folders)
        .get_template(template)
        .stream(
            {
                **values,
                "policy": trusted(_policy(style, script, site)),
                "site": site,
                "style": site.assets + site_file("style", "css", style) if site else trusted(style),
                "script": site.assets + site_file("script", "js", script) if site and script else trusted(script),
                "data": None if data is None else island(data),
                "program": _program(),
            }
        )
    )
    page.enable_buffering(_PIECES_AT_ONCE)
    html = io.BytesIO()  # a list of all pieces would need several times the memory of a long page
    page.dump(html, "utf-8", "backslashreplace")
    return html.getvalue()


@cache
def _program() -> str:
    return f"ics-recorder {version('ics-recorder')}"


_site_files: Final[dict[str, bytes]] = {}


def site_file(stem: str, suffix: str, text: str) -> str:
    """The name of a file that pages of a site share; it differs whenever the content does, so that browsers keep it."""
    data = text.encode()
    name = f"{stem}-{hashlib.sha256(data).hexdigest()[:12]}.{suffix}"
    _site_files[name] = data
    return name


def site_files() -> Mapping[str, bytes]:
    return _site_files


def policy_of(html: bytes) -> str:
    match = _POLICY.search(html)
    return unescape(match[1].decode()) if match else "default-src 'none'"


@cache
def _environment(folders: tuple[Path, ...]) -> Environment:
    """The templates of these folders; each of them is compiled once."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ExportError(_MISSING) from error
    return Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printed(value: Any) -> Any:
    """What a template prints: plain text is made visible, our own markup is unchanged."""
    return visible(value) if type(value) is str else value


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {key: _seen(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_seen(inner) for inner in value]
    return value


@cache
def _asset(name: str, folders: tuple[Path, ...]) -> str:
    path = next(path for folder in folders if (path := folder / name).exists())
    return path.read_text(encoding="utf-8").strip()


def _policy(style: str, script: str, site: Site | None) -> str:
    scripts = "script-src 'none'" if not script else "script-src 'self'" if site else f"script-src '{_hash(script)}'"
    own = "style-src 'self'; img-src 'self' data:; form-action 'self'; connect-src 'self'"
    if site is None:
        own = f"style-src '{_hash(style)}'; img-src data:; form-action 'none'"
    return (
        f"default-src 'none'; {scripts}; base-uri 'none'; {own}; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
