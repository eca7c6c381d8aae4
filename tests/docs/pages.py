r"""The blocks of a page and how each is run.

```console   commands after ``$`` (continued by ``\`` and ``>``) and what they print on a terminal of 100 columns
```sh        commands, one a line, whose output does not matter
```python    a program; the programs of a page share their names
``` after "This prints:" what the program before it prints
```sql       statements on the archive of ICS_RECORDER_DB

Comments directly above a block: ``<!-- not run: REASON -->``, ``<!-- exit status: N -->``. A comment of its own,
``<!-- run: COMMAND -->``, prepares what a page does not show. A line with nothing but an ellipsis stands for any lines.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_GENERATED = {"docs/reference/cli.md", "docs/reference/python.md"}
_ELSEWHERE = ROOT / "docs/protocol"
"""tests/conformance runs what is on these pages."""
_BLOCK = re.compile(
    r"^(?P<marks>(?:<!-- [^\n]* -->\n)*)(?P<fence>```+)(?P<language>[\w-]*)\n(?P<body>.*?)^(?P=fence)$"
    r"|^<!-- run: (?P<run>[^\n]*) -->$",
    re.MULTILINE | re.DOTALL,
)
_MARK = re.compile(r"<!-- (not run|exit status): (.*) -->")
_VARIES = ((re.compile(r"\d+ kB"), "n kB"), (re.compile(r"\bP[0-9a-f]{12}\b"), "Pseudonym"))
"""Sizes differ between versions of libraries, pseudonyms between copies."""
_OPERATORS = set("|<>;&")


@dataclass
class Block:
    """A fenced block, or a hidden command (language ``run``)."""

    language: str
    body: str
    line: int
    start: int  # of the body in the page
    end: int
    not_run: str | None = None
    status: int = 0
    printed: bool = False  # what the program before it prints


def hand_written() -> list[Path]:
    """All pages below docs/ that no program writes, but those of the protocol."""
    return [
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if path.relative_to(ROOT).as_posix() not in _GENERATED and not path.is_relative_to(_ELSEWHERE)
    ]


def blocks(text: str) -> Iterator[Block]:
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["run"]:
            yield Block("run", match["run"], line, *match.span("run"))
            continue
        marks = dict(_MARK.findall(match["marks"]))
        before = text[: match.start()].rstrip()
        yield Block(
            match["language"],
            match["body"],
            line + match["marks"].count("\n"),
            *match.span("body"),
            not_run=marks.get("not run"),
            status=int(marks.get("exit status", "0")),
            printed=not match["language"] and before.endswith("This prints:"),
        )


def steps(body: str) -> list[tuple[str, str]]:
    """Each command of a console block with what the page shows as its output."""
    parts = re.split(r"^\$ ", body, flags=re.MULTILINE)
    if parts[0]:
        raise ValueError(f"the block does not begin with a command: {parts[0]!r}")
    found = []
    for part in parts[1:]:
        lines = part.splitlines()
        command = lines.pop(0)
        while command.endswith("\\"):
            command = command[:-1] + lines.pop(0).removeprefix(">").lstrip()
        found.append((command, "\n".join(lines).strip("\n")))
    return found


def words_of(command: str) -> list[str] | None:
    """The words of a command, None if it needs a shell."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="".join(_OPERATORS))
    lexer.whitespace_split = True
    words = list(lexer)
    return None if any(set(word) <= _OPERATORS for word in words if word) or "$(" in command else words


def fits(shown: str, printed: str) -> bool:
    """Whether the page shows what was printed; a line with an ellipsis alone fits any lines."""
    for pattern, instead in _VARIES:
        shown, printed = pattern.sub(instead, shown), pattern.sub(instead, printed)
    wanted = [line.rstrip() for line in shown.strip("\n").splitlines()]
    found = [line.rstrip() for line in printed.strip("\n").splitlines()]
    lines = "".join(r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line) + r"\n" for line in wanted)
    return re.fullmatch(lines, "".join(f"{line}\n" for line in found)) is not None
