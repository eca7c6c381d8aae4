"""What every page has in common: templates, escaping, and a policy that lets nothing run but our own script.

Three walls stand between a log and the reader's browser. Every value is escaped (Jinja2's autoescape, never switched
off). Every text is made visible on its way into a template: control characters and those that turn the direction of
writing are written out. And the page's Content-Security-Policy names the hashes of its one style sheet and its one
script: nothing else is applied, run, fetched or sent, and no text can become markup (Trusted Types).
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporters.report.text import visible
from recorder.errors import ExportError

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["island", "render_page", "trusted"]

_TEMPLATES = Path(__file__).parent / "templates"
_MISSING = "A report needs Jinja2: pip install 'ics-recorder[report]'."
# What could end a script element or be taken for a line's end by JavaScript.
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&'\u2028\u2029"}


def trusted(text: str) -> Markup:
    """Markup that this program made itself; never for anything that came out of a log."""
    try:
        from markupsafe import Markup
    except ImportError as error:
        raise ExportError(_MISSING) from error
    return Markup(text)


def island(data: object) -> Markup:
    """Data for the page's script, as JSON that cannot end its element; every text in it is made visible."""
    text = json.dumps(_seen(data), ensure_ascii=False, separators=(",", ":"))
    return trusted(text.translate(_ESCAPES))


def render_page(
    template: str,
    values: Mapping[str, object],
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    more_style: str = "",
    data: object = None,
) -> bytes:
    """A whole page.

    Args:
        template: a file of ``templates`` that extends ``base.html``.
        values: what it shows; texts need not be escaped.
        styles, scripts: files of ``templates`` that become the one style sheet (after ``base.css``) and the one script.
        more_style: rules of this page alone, made by this program.
        data: what the script reads.
    Returns:
        UTF-8. The same arguments give the same bytes.
    Raises:
        ExportError: Jinja2 is not installed.
    """
    style = "\n".join([*(_asset(name) for name in ("base.css", *styles)), more_style]).strip()
    script = "\n".join(_asset(name) for name in scripts)
    text = (
        _environment()
        .get_template(template)
        .render(
            {
                **values,
                "policy": _policy(style, script),
                "style": trusted(style),
                "script": trusted(script),
                "data": None if data is None else island(data),
                "program": f"ics-recorder {version('ics-recorder')}",
            }
        )
    )
    return text.encode("utf-8", "backslashreplace")


def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ExportError(_MISSING) from error
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printed(value: Any) -> Any:
    """What a template prints: plain text is made visible, markup of ours is left alone."""
    return visible(value) if type(value) is str else value


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {key: _seen(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_seen(inner) for inner in value]
    return value


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8").strip()


def _policy(style: str, script: str) -> str:
    scripts = f"script-src '{_hash(script)}'" if script else "script-src 'none'"
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; {scripts}; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
