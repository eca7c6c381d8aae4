"""Check the words that people read: ``python -m tests.plain_words [PATH ...]``, part of ``make lint``.

Read are the docstrings, comments and messages of the product and its tests, the names of tests, and the hand-written
and generated pages outside their code. Words that readers had to translate are refused, with the words to write
instead. A correct use is in ``ALLOWED`` with its reason. The check finds words, not bad sentences.
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT = Path(__file__).parent.parent
FOLDERS = ("recorder", "storage", "exporters", "migrations", "tests", "docs", "examples", "benchmarks")
OWN_WORDS = {ROOT / "tests/plain_words.py", ROOT / "tests/test_plain_words.py"}
LONGEST_SUMMARY: Final = 120

BANNED: Final = {
    r"(?:un)?told": "report, print, set, contain",
    r"tell(?:s|ing)? (?:what|whether|how|which|who|why|when|where|if|the|an?|us|them|its?|of|more|apart)": "report",
    r"nothing tells|tells? nothing": "missing, unknown",
    r"whoever|somebody|someone|nobody|such an? one": "caller, user, process, client, player",
    r"living": "in progress",
    r"(?:still )?to come|going on": "in progress, later",
    r"witness(?:es)?|sightings?": "source, observation",
    r"giv(?:e|es|en|ing) (?:out|away)|gave (?:out|away)|hand(?:s|ed)? (?:out|over)": "emit, return, pass",
    r"mend(?:s|ed|ing)?": "fix",
    r"(?:made|make|makes) (?:anew|again)|anew": "retry, reconnect, rebuild, update",
    r"(?:made|make|makes) new": "update, upgrade, rebuild",
    r"the usual one": "fallback, default",
    r"several make one|become one": "merge; merged game",
    r"left out|leav(?:es?|ing) out": "skip, exclude; excluded",
    r"stands? (?:there|in|beside|for itself|to)|stood (?:there|in|beside)": "be, contain, overlap",
    r"what came|what is there|so (?:deep|long)(?=[,.])": "name the thing",
    r"men(?= (?:in hand|on|of)\b)|letters for men": "pieces",
    r"thought(?= by| of an engine)": "analysis, evaluation",
    r"courtes(?:y|ies)|beautif\w+": "plain words",
}
"""Pattern of words that are refused, and what to write instead."""

ALLOWED: Final[dict[tuple[str, str], str]] = {
    ("docs/reference/formats.md", "witnesses"): "a name in JSON",
    ("exporters/pgn/tags.py", "what came"): "a comment in PGN, which must not change",
    ("recorder/dialects/chat.py", "told"): "a word of servers",
    ("recorder/live/login/login.py", "nobody"): "a refusal in a server's words",
    ("recorder/replay/server/commands.py", "told"): "a reply in a server's words",
    ("recorder/replay/server/commands.py", "tell it"): "a reply in a server's words",
    ("recorder/replay/server/control.py", "nobody"): "text that clients receive, which must not change",
    ("recorder/replay/terminal/viewing.py", "tells the"): "a line in a server's words",
    ("recorder/rules/variants.py", "give away"): "a variant's name",
    ("recorder/sources/redaction.py", "told"): "a word of servers",
    ("recorder/dialects/results.py", "courtesy"): "a word of servers",
    ("recorder/sources/redaction.py", "courtesy"): "a word of servers",
    ("tests/dialects/test_other_servers.py", "courtesy"): "a word of servers",
    ("tests/dialects/test_chat.py", "told"): "a line of servers",
    ("tests/dialects/test_recogniser.py", "told"): "a line of servers",
    ("tests/exporters/test_pgn_bughouse.py", "what came"): "a comment in PGN, which must not change",
    ("tests/replay/test_session.py", "nobody"): "text that clients receive, which must not change",
    ("tests/replay/test_session.py", "told"): "a reply in a server's words",
    ("tests/wire/test_lines.py", "told"): "a line of servers",
}
"""Path and found words: why they are right there."""


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])".replace(" ", r"[\s#]+"), re.IGNORECASE)


_PATTERNS = [(_pattern(words), instead) for words, instead in BANNED.items()]
_ANY = _pattern("|".join(BANNED))
"""Most texts have none of the words: one search finds that out."""
_CODE = re.compile("`+[^`]*`+")


class Text(NamedTuple):
    """A text that a person reads, with its place."""

    path: str
    line: int
    text: str


class Finding(NamedTuple):
    """Words to replace, or a summary that is too long."""

    path: str
    line: int
    words: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: '{self.words}': write {self.instead}"


@lru_cache(maxsize=1)
def _nodes(source: str) -> list[ast.AST]:
    """Everything in the syntax tree of the file that is being read."""
    return list(ast.walk(ast.parse(source)))


def read_python(path: str, source: str) -> Iterator[Text]:
    """Docstrings, comments, test names, and string constants of several words."""
    for node in _nodes(source):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield Text(path, node.lineno, node.value)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
            yield Text(path, node.lineno, node.name.replace("_", " "))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(path, token.start[0], token.string)


def read_page(path: str, source: str) -> Iterator[Text]:
    """The paragraphs of a page in Markdown, without code."""
    for match in re.finditer(
        r"^(```+|~~~+).*?^\1[ \t]*$|((?:^(?!```|~~~)[^\n]+\n?)+)", source, re.MULTILINE | re.DOTALL
    ):
        if match[2]:
            yield Text(path, source.count("\n", 0, match.start()) + 1, match[2])


def read_notebook(path: str, source: str) -> Iterator[Text]:
    """The texts between a notebook's cells of code; the number of the cell counts as its first line."""
    for number, cell in enumerate(json.loads(source)["cells"], 1):
        if cell["cell_type"] == "markdown":
            yield Text(path, number, "".join(cell["source"]))


READERS: Final = {".py": read_python, ".md": read_page, ".ipynb": read_notebook}


def find(text: Text) -> Iterator[Finding]:
    """The refused words of a text."""
    words = _CODE.sub(lambda code: re.sub(r"[^\n]", "`", code[0]), text.text)
    if not _ANY.search(words):
        return
    for pattern, instead in _PATTERNS:
        for match in pattern.finditer(words):
            line = text.line + words.count("\n", 0, match.start())
            yield Finding(text.path, line, re.sub(r"[\s#]+", " ", match[0]), instead)


def find_long_summaries(path: str, source: str) -> Iterator[Finding]:
    """Docstrings whose first line is no summary: too long, or continued on the next line."""
    for node in _nodes(source):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            summary, _, rest = (ast.get_docstring(node) or "").partition("\n")
            line = getattr(node, "lineno", 1)
            if len(summary) > LONGEST_SUMMARY or rest[:1].strip():
                yield Finding(path, line, summary, "a summary of one line, and an empty line behind it")


def all_findings(paths: list[Path]) -> Iterator[Finding]:
    """What is to be rewritten in these files."""
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            yield from find_long_summaries(name, source)
        for text in READERS[path.suffix](name, source):
            yield from find(text)


def files(chosen: list[str]) -> list[Path]:
    """The files with texts, below the chosen paths if there are any."""
    below = [Path(path).resolve() for path in chosen]
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    found += [ROOT / "README.md", ROOT / "CHANGELOG.md"]
    return sorted(
        path
        for path in found
        if path.suffix in READERS and "corpus" not in path.parts and path not in OWN_WORDS
        if not below or any(path.is_relative_to(folder) for folder in below)
    )


def main(chosen: list[str]) -> int:
    """Print what is to be rewritten; 1 if that is anything."""
    found = list(all_findings(files(chosen)))
    refused = [one for one in found if (one.path, one.words.lower()) not in ALLOWED]
    for one in refused:
        print(one)
    unused = [] if chosen else sorted(set(ALLOWED) - {(one.path, one.words.lower()) for one in found})
    for path, words in unused:
        print(f"{path}: '{words}' is allowed, but does not occur")
    if refused:
        print(f"{len(refused)} to rewrite in {len(Counter(one.path for one in refused))} files")
    return 1 if refused or unused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
