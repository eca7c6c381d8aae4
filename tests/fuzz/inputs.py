"""Inputs of the fuzzer: windows of real logs of every kind, and what is done to them."""

import gzip
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

from recorder.sources import SourceKind, detect
from tests.support.journals import journal_of

KINDS = tuple(SourceKind)
_CORPUS = Path(__file__).parent.parent / "corpus"
_LONGEST_WINDOW = 12_000

# Words of the protocols, and values that break careless readers.
_TOKENS = [
    *(b"<12> ", b"<b1> game ", b"<g1> ", b"<d1> ", b"<s>", b"{Game 7 (", b"} *\n", b"} 1-0\n", b"1-0", b"*"),
    *(b"fics% ", b"aics% ", b"\\   ", b"\x07", b"\x19(", b"\x19)", b"\x19", b"\x15", b"\x16", b"\x17", b"\xff\xf9"),
    *(
        b"[G]\x00",
        b"\xff\xfb\x01",
        b"\n\r",
        b"\r\n",
        b"\n",
        b"\r",
        b"\x00",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\x0b\x0c\x1c",
    ),
    *(b"--7", b"-1", b"0", b"9" * 30, b"-" + b"9" * 20, b"1e9", b"0.5", b"NaN", b"++++", b"----", b"J", b"\xc3\xa9"),
    *(
        b"%" * 40,
        b"> " * 40,
        b"a=a" * 30,
        b" " * 200,
        b"(0:00)",
        b"(999:99.999)",
        b"P/@@-e4",
        b"o-o-o",
        b"none",
        b"e8=Q",
    ),
    *(b"-------- ", b"rnbqkbnr ", b"pppppppp ", b"PPPPPPPP ", b"KKKKKKKK ", b"8/8/8/8/8/8/8/8 w - - 0 1"),
    *(b"Movelist for game 7:\n", b"Move  Ann   Bob\n----  ----  ----\n", b"      {Still in progress} *\n"),
    *(b"Game 7: Ann moves: e4\n", b"Game 7: Ann backs up 3 moves.\n", b"Game 7: Ann goes forward 99999 moves.\n"),
    *(b"Removing game 7 from observation list.\n", b"You are now observing game 7.\n", b"Ann requests to take back 2"),
    *(b'[Event "', b'"]\n', b'[FEN "', b'[SetUp "1"]\n', b'[Variant "bughouse"]\n', b"[%clk 0:01:02.345]", b"{", b"}"),
    *(
        b"(",
        b")",
        b"$1",
        b"1A. e4{12} ",
        b"1... ",
        b"$999999999",
        b"; rest\n",
        b"[%eval #-3,9]",
        b'[TimeControl "-"]\n',
    ),
    *(b"<BLOCKBEGIN>", b"(told ", b"-> ", b"first : ", b"# first : stat01: ", b"12 34 56 789 e2e4 e7e5\n"),
]


@cache
def _seeds(kind: SourceKind) -> tuple[bytes, ...]:
    """Real logs of a kind; journals, typescripts and stamped logs are made of raw ones."""
    if kind is SourceKind.JOURNAL:
        return tuple(journal_of(data[:100_000], number) for number, data in enumerate(_seeds(SourceKind.RAW)[:20]))
    if kind is SourceKind.STAMPED:
        return tuple(_stamped(data[:100_000]) for data in _seeds(SourceKind.RAW)[:20])
    if kind is SourceKind.TYPESCRIPT:
        head = b'Script started on 2024-05-06 07:08:09+00:00 [TERM="xterm" TTY="/dev/pts/1" COLUMNS="80" LINES="24"]\n'
        return tuple(head + data[:100_000].replace(b"\n\r", b"\r\n") for data in _seeds(SourceKind.RAW)[:20])
    found = []
    for path in sorted(_CORPUS.rglob("*")):
        if path.suffix in (".gz", ".raw", ".txt", ".pgn", ".bpgn") and "jsonl" not in path.name:
            data = path.read_bytes()
            if path.suffix == ".gz":
                data = gzip.decompress(data)
            if detect(data[: 1 << 16]) is kind:
                found.append(data)
    return tuple(found)


def _stamped(data: bytes) -> bytes:
    lines = data.replace(b"\r", b"").split(b"\n")
    return b"\n".join(
        b"[2024-05-06 %02d:%02d:%02d.%03d] " % (n // 3600 % 24, n // 60 % 60, n % 60, n % 1000) + line
        for n, line in enumerate(lines)
    )


def make_input(kind: SourceKind, number: int) -> bytes:
    """The case's bytes: a window of a real log with 0 to 40 mutations."""
    chance = random.Random(f"{kind.value} {number}")
    seeds = _seeds(kind)
    data = _window(chance, chance.choice(seeds))
    if chance.random() < 0.2:
        data += _window(chance, chance.choice(seeds))  # as after a lost connection
    for _ in range(int(40 * chance.random() ** 2)):
        data = chance.choice(_MUTATIONS)(chance, data)
    return data[: 8 * _LONGEST_WINDOW]


def _window(chance: random.Random, data: bytes) -> bytes:
    length = chance.randint(200, _LONGEST_WINDOW)
    begin = chance.choice([0, chance.randrange(len(data) + 1)])
    return data[begin : begin + length]


def _place(chance: random.Random, data: bytes) -> int:
    return chance.randrange(len(data) + 1)


def _flip(chance: random.Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _insert(chance: random.Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + chance.choice(_TOKENS) * chance.choice([1, 1, 1, 1, 5, 50]) + data[at:]


def _delete(chance: random.Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + data[at + chance.choice([1, 3, 20, 100]) :]


def _repeat(chance: random.Random, data: bytes) -> bytes:
    at = _place(chance, data)
    piece = data[at : at + chance.choice([1, 10, 100, 1000])]
    return data[:at] + piece * chance.choice([2, 3, 20]) + data[at:]


def _replace_word(chance: random.Random, data: bytes) -> bytes:
    """One field of one line becomes another: of the same line, or a word that breaks readers."""
    lines = data.split(b"\n")
    row = chance.randrange(len(lines))
    words = lines[row].split(b" ")
    words[chance.randrange(len(words))] = chance.choice([chance.choice(_TOKENS), chance.choice(words), b""])
    lines[row] = b" ".join(words)
    return b"\n".join(lines)


def _move_lines(chance: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    begin = chance.randrange(len(lines))
    end = begin + chance.choice([1, 2, 5, 30])
    piece = lines[begin:end]
    left = lines if chance.random() < 0.5 else lines[:begin] + lines[end:]
    at = chance.randrange(len(left) + 1)
    return b"\n".join(left[:at] + piece + left[at:])


def _change_number(chance: random.Random, data: bytes) -> bytes:
    digits = [at for at in range(0, len(data), 7) if data[at : at + 1].isdigit()]
    if not digits:
        return data
    at = chance.choice(digits)
    return data[:at] + chance.choice([b"-", b"0", b"99999999999", b"--7", b"x", b""]) + data[at + 1 :]


_MUTATIONS: list[Callable[[random.Random, bytes], bytes]] = [
    *(_flip, _insert, _delete, _repeat, _replace_word, _replace_word, _move_lines, _change_number, _change_number)
]
