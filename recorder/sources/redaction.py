"""Replace the handles of erased players in all lines, before a line is parsed and before it is stored.

The handles themselves are not stored: of each there is only a salted hash. The replacement is as long and has the form
of a handle, so that lines about other players' games keep their meaning.

In lines of servers a handle is a word of ASCII letters and digits; words that hyphens join are one handle. Saved games
have names of several words and of any alphabet, in any text: there a name ends where a word ends, and only the names of
the players are compared as a whole.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import Final

from recorder.model import SAVED_KINDS
from recorder.model.observations import SourceKind
from recorder.sources.secrets import FILLER, fill
from recorder.sources.stamps import STAMP
from recorder.text import NameWord, later, words_of

ForgottenHandle = tuple[str, int, str]
"""Salt and hash in hexadecimal digits, and a length between them: that of a handle, or below 0 that of another name."""

_HANDLE: Final = r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*"
_WHOLE_HANDLE: Final = later(_HANDLE)
_BEFORE: Final = r"(?<![A-Za-z0-9_])(?<![A-Za-z0-9_]-)"
_WORD: Final = later(rf"{_BEFORE}{_HANDLE}(?![A-Za-z0-9_])")
# In bytes a word may also follow something that is not text: colours, or line ends that a client wrote as escapes.
_COLOURED: Final = r"(?<=\x1b\[m)|(?<=\x1b\[[0-9]m)|(?<=\x1b\[[0-9][0-9]m)|(?<=\x1b\[[0-9];[0-9][0-9]m)"
_IN_RAW: Final = later(rf"(?:{_BEFORE}|{_COLOURED}){_HANDLE}(?![A-Za-z0-9_])")
_IN_XBOARD: Final = later(rf"(?:{_BEFORE}|(?<=\\[0-3][0-7][0-7])){_HANDLE}(?![A-Za-z0-9_])")
_IN_PYCHESS: Final = later(rf"(?:{_BEFORE}|(?<=\\[nrt])){_HANDLE}(?![A-Za-z0-9_])")
_IN_STAMPED: Final = later(rf"(?:{_BEFORE}|{_COLOURED}|(?<=\\[0-3][0-7][0-7])){_HANDLE}(?![A-Za-z0-9_])")
_WORDS: Final = {
    SourceKind.XBOARD: _IN_XBOARD,
    SourceKind.PYCHESS: _IN_PYCHESS,
    SourceKind.STAMPED: _IN_STAMPED,
}
_CLIENTS: Final = (SourceKind.XBOARD, SourceKind.PYCHESS)
_SHORTEST: Final = 3
_MOST_WORDS: Final = 8
_LONGEST_GAP: Final = 8
_EMPTY_LINE: Final = (b"\n\n", b"\n\r\n")
_GAPS: Final = frozenset(" ,.;:!?'\"()[]{}/&+\r\n\t-")
_PLAYERS_NAME: Final = later(r'\[[ \t]*(?:White|Black)[AB]?[ \t]+"((?:[^"\\\r\n]|\\.)*)"')
_MAX_LINE: Final = 1 << 16
_MOST_KNOWN: Final = 100_000

_PROMPTS: Final = r"(?:\([0-9]+\) )?(?>(?:(?!-->)[^\s:<>{}()\[\]%$#]{0,24}+[%>$#] ?)*)"
_SPEAKER: Final = r"X_+(?:\([^()\n]{1,9}\))*(?:\[[0-9]+\])?"
# Behind a line end that a client wrote as an escape, of which a line may have thousands.
_FEW_PROMPTS: Final = r"(?>(?:(?!-->)[^\s:<>{}()\[\]%$#\\]{0,24}+[%>$#] ?){0,2})"
# The lines of ``recorder.dialects.chat`` that contain a player's words.
_SPEECH: Final = (
    rf"(?:{_SPEAKER} (?:kibitzes|whispers|says|\(your partner\) tells you|tells you|(?:(?:c|s|t|it)-)?shouts): ?"
    rf"|{_SPEAKER}\([0-9]+\): ?|--> {_SPEAKER} ?|[ \t]*+\*\*(?:UNREG )?ANNOUNCEMENT\*\* from {_SPEAKER}: ?)"
)
_SPOKEN: Final = later(rf"[\r\x07]*+{_PROMPTS}{_SPEECH}(?P<words>.*)", re.DOTALL)
_STAMPS: Final = rf"[> \t]*+(?>(?:{STAMP.pattern.decode()})?)"
# ICC's datagrams that contain a player's words: kibitzes, channels, tells, shouts, bots' tells.
_SPOKEN_DATAGRAM: Final = later(
    r"\x19\((?:(?:26|28|82) \S+|31|32|83) X_+(?P<words>[ {\x19].*?)(?=\x19\)|\Z)", re.DOTALL
)
# Text that stays: the beginnings of continued lines, datagrams' marks, and the tags that are counted.
_STAYS: Final = later(rf"(?:^|(?<![\r\n])[\r\n]++){_STAMPS}\\   |\\01[25]|\x19[{{}}()\[\]]|<12>|<b1>")
_CONTINUATIONS: Final = later(rf"[\r\n]*(?:{_STAMPS}\\   [^\r\n]*(?:[\r\n]+|$))*")
_STAMPS_AGAIN: Final = re.sub(r"\(\?(P<|\()(\w+)", r"(?\1\2_", _STAMPS)  # its groups have other names
_SPOKEN_IN_RAW: Final = later(
    rf"(?:(?:^(?:\xef\xbb\xbf)?|(?<=[\r\n])){_STAMPS}\x07*+{_PROMPTS}|(?<=\\01[25]){_FEW_PROMPTS}){_SPEECH}"
    rf"(?P<words>[^\r\n]*(?:[\r\n]+{_STAMPS_AGAIN}\\   [^\r\n]*)*)"
)
_SPOKEN_IN_WORDS: Final = later(rf"(?:^|(?<=[\r\n :])|(?<=\\[nr])|(?<=\\01[25])){_SPEECH}(?P<words>[^\r\n\\]*)")


# Words of the lines about games. If a handle is one of them, an occurrence could be either.
_SERVERS_WORDS: Final = frozenset(
    re.findall(
        r"\S+",
        """
    abort aborted aborts accept accepts adjourn adjourned adjourns adjudication admin after agreement aics all and are
    at atomic automatic available backing backward been being bidirectional black blitz board both bughouse bullet
    but button by can cannot castle challenge checkmate checkmated chess clock clocks columns commit computer connection
    continue continuing courtesy courtesyabort courtesyadjourn crazyhouse creating current currently decline declines
    declined disconnect disconnected disconnection draw drawn end ended entering examine examined examiner examines
    examining exit fatics fen fics flag follow following for forfeits forward forwards found freechess from game
    games gives goes guest half half-moves handle has have header held history holding holdings icc ics in increment
    info initial into internet is issued its kibitz kibitzed kibitzes lag lasker left lightning list local logged
    logging login losers lost made mate material minute minutes mode mood more move movelist moved moves mutual name
    names neither new next no none not note notification now number observe observed observer observers observing off
    offer offers one only open opening opponent org over own partner partners pass passed password paused pauses piece
    pieces play played player players playing plays ply position private pst prompt public puzzle random ran rated
    rating refused register registered registration remaining removed removing repetition requests resign resigned
    resigns result results resume resumed reverts rule says scratch seconds second seek seeking server session set setup
    shout shouted shouts side simul simultaneous spoken stalemate stalemated standard start started starting starts
    still stored style suicide switch switched switches takeback takebacks taken takes tell tells than that the there
    this time timeout times timeseal title titles told to tournament training turn type unexamined unpauses unrated
    unregistered until untimed update used user using variant vs was welcome whisper whispered whispers white who wild
    will win wins with withdraws withdrawn within without won wrong you your yours zone
    jan feb mar apr may jun jul aug sep oct nov dec january february march april june july august september october
    november december mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday utc gmt edt
    est cdt cst mdt mst pdt
    """,
    )
)
_BOARD: Final = later(r"[rnbqkp]{8}|[rnbqk]?[a-h]?[1-8]?x?[a-h][1-8](?:[-=][rnbqka-h1-8]+)?|o-o(?:-o)?", re.I)


def is_handle(text: str) -> bool:
    """A handle, or another name; no words of servers' lines about games, without which no game could be read."""
    if _WHOLE_HANDLE().fullmatch(text) is not None:
        return len(text) >= _SHORTEST and not _is_taken(text)
    words = [word.folded for word in words_of(_composed(text))]
    least = _SHORTEST if text.isascii() else _SHORTEST - 1
    several = len(words) > 1 or not text.isascii()
    return several and len(words) <= _MOST_WORDS and sum(map(len, words)) >= least and not all(map(_is_taken, words))


def _is_taken(word: str) -> bool:
    return word.isdigit() or word.lower() in _SERVERS_WORDS or _BOARD().fullmatch(word) is not None


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _key_of(name: str) -> tuple[str, bool]:
    if _WHOLE_HANDLE().fullmatch(name) is not None:
        return name.lower(), True
    return " ".join([word.folded for word in words_of(_composed(name))]), False


def hash_handle(handle: str, salt: str | None = None) -> ForgottenHandle:
    key, alone = _key_of(handle)
    salt = salt or secrets.token_hex(16)
    return salt, len(key) if alone else -len(key), _hash(key, salt)


def _hash(key: str, salt: str) -> str:
    return blake2b(key.encode(), key=bytes.fromhex(salt), digest_size=16).hexdigest()


class Forgotten:
    """Replaces handles of which only hashes are known; ``names``, if known: texts without them are quick."""

    def __init__(self, handles: Iterable[ForgottenHandle] = (), names: Iterable[str] = ()) -> None:
        self._handles = frozenset(handles)
        self._salts = {(salt, abs(length)) for salt, length, _ in self._handles}
        self._hashes = {found for _, _, found in self._handles}
        self._lengths = {length for _, length in self._salts}
        self._several = any(length < 0 for _, length, _ in self._handles)  # names that are no handles
        self._known: dict[str, bool] = {}
        known = list(names)
        self._names = [] if self._several else [name.lower() for name in known]
        self._firsts = {_first(words_of(_composed(name))[0]) for name in known}

    def __bool__(self) -> bool:
        return bool(self._handles)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Forgotten) and self._handles == other._handles

    def __hash__(self) -> int:
        return hash(self._handles)

    def __contains__(self, handle: str) -> bool:
        return self._has(_key_of(handle)[0])

    def _has(self, key: str) -> bool:
        if len(key) not in self._lengths:
            return False
        known = self._known.get(key)
        if known is None:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            known = self._known[key] = any(
                _hash(key, salt) in self._hashes for salt, length in self._salts if length == len(key)
            )
        return known

    def concerns(self, text: str) -> bool:
        """Whether a text contains an erased handle, its replacement, or what looks like one."""
        return "X_" in text or self.text(text) is not text

    def text(self, text: str) -> str:
        """Replace handles in whole lines of a server, by as many characters; the same object: there are none."""
        text = self._replace(text, _WORD())
        return self._replace_names(text) if self._several else text

    def _replace_names(self, text: str) -> str:
        """Replace names of several words or of other alphabets; bytes of UTF-8 are read as such."""
        plain = text
        if not text.isascii():
            with suppress(UnicodeError):
                plain = text.encode("latin-1").decode("utf-8")
        places = list(self.places(plain, alone=False))
        if not places:
            return text
        clean = _filled(plain, places, "latin-1" if plain is text else "utf-8")
        return clean if plain is text else clean.encode("utf-8").decode("latin-1")

    def words(self, text: str, is_utf8: Callable[[], bool] = lambda: True) -> str:
        """Replace names in a text of a saved game by as many bytes; a file that is not UTF-8 is Latin-1."""
        places = list(self.places(text)) if self._handles else []
        if not places:
            return text
        latin = not text.isascii() and max(text) <= "\xff" and not is_utf8()
        return _filled(text, places, "latin-1" if latin else "utf-8")

    def places(self, text: str, alone: bool = True) -> Iterator[tuple[int, int]]:
        """Yield where names begin and end, the longest first; ``alone``: also those of one ASCII word."""
        if self._firsts and not self._may_begin(text):
            return
        words = words_of(text)
        longest = max(self._lengths, default=0)
        at = 0
        while at < len(words):
            key, end, found = "", words[at].begin, 0
            if self._firsts and _first(words[at]) not in self._firsts:
                at += 1
                continue
            for size, word in enumerate(words[at : at + _MOST_WORDS], 1):
                key = f"{key} {word.folded}" if key else word.folded
                if len(key) > longest or (size > 1 and _are_apart(text[end : word.begin])):
                    break
                end = word.end
                if (size > 1 or alone or not key.isascii()) and (self._has(key) or self._has(key.replace(" ", "-"))):
                    found = size
            if found:
                yield words[at].begin, words[at + found - 1].end
            at += found or 1

    def _may_begin(self, text: str) -> bool:
        lower = text.lower()
        if any(first in lower for first in self._firsts):
            return True
        lines = () if text.isascii() else (line for line in text.split("\n") if not line.isascii())
        return any(_first(word) in self._firsts for line in lines for word in words_of(line))

    def name(self, name: str) -> str:
        """Replace handles in a file's name, also behind a hyphen or underscore, by as many characters."""
        return self.words(self._replace(name, _WORD()))

    def _replace(self, text: str, words: re.Pattern[str]) -> str:
        if self._names:
            lower = text.lower()
            if not any(name in lower for name in self._names):
                return text
        if not any(word in self for word in set(words.findall(text))):
            return text
        return words.sub(lambda word: _fill(word[0]) if word[0] in self else word[0], text)

    def words_in(self, text: str, kind: SourceKind) -> str:
        """Replace handles in a log's bytes (as Latin-1), where a word may follow bytes that are not text."""
        text = self._replace(text, _WORDS.get(kind, _IN_RAW)())
        return self._replace_names(text) if self._several else text


def _filled(text: str, places: Iterable[tuple[int, int]], encoding: str) -> str:
    out, done = "", 0
    for begin, end in places:
        letters = [_hidden(letter, encoding, index == 0, False) for index, letter in enumerate(text[begin:end])]
        out += text[done:begin] + b"".join(letters).decode(encoding)
        done = end
    return out + text[done:]


class Redactor:
    """The output is as long as the input. A journal is given as it is: its records cut lines anywhere."""

    def __init__(self, forgotten: Forgotten, kind: SourceKind) -> None:
        self.replaced = False
        self._forgotten = forgotten
        self._kind = kind
        self._idle = not forgotten or kind is SourceKind.JOURNAL
        self._spoken = _SPOKEN_IN_WORDS if kind in _CLIENTS else _SPOKEN_IN_RAW
        self._speaking = False  # the last line is one that the next may continue
        self._end = 0
        self._late = b""

    def receive(self, lines: bytes) -> bytes:
        """The last line of a log may be cut; as many bytes are returned."""
        if self._idle or not lines:
            return lines
        if self._kind in SAVED_KINDS:
            lines = self._saved(self._late + lines)
            end = len(lines) if lines.endswith(_EMPTY_LINE) else lines.rfind(b"\n", 0, -1) + 1
            self._late = lines[end:]
            return lines[:end]
        text = lines.decode("latin-1")
        begin = 0
        if self._speaking:
            more = _CONTINUATIONS().match(text)
            begin = more.end() if more is not None else 0
            text = _fill_lines(text[:begin]) + text[begin:]
            self._speaking = begin == len(text)
        if begin < len(text):
            rest, self._end = self._forgotten.words_in(text[begin:], self._kind), -1
            if "X_" in rest:
                rest = self._spoken().sub(self._silence, rest)
                if "\x19(" in rest:
                    rest = _SPOKEN_DATAGRAM().sub(_silence_datagram, rest)
            self._speaking = self._end >= 0 and not rest[self._end :].strip("\r\n")
            text = text[:begin] + rest
        return text.encode("latin-1")

    def all(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Replace in a whole log; yielded blocks end with a line, longer lines excepted."""
        rest = b""
        for block in blocks:
            data = rest + block
            end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
            if not end and len(data) > _MAX_LINE:
                end = len(data)
            rest = data[end:]
            yield self.receive(data[:end])
        yield self.receive(rest) + self.finish()

    def finish(self) -> bytes:
        """It waits because a name may continue in the next line."""
        late, self._late = self._late, b""
        return late

    def _saved(self, data: bytes) -> bytes:
        lines = [(line, _encoding(line)) for line in data.split(b"\n")]
        text = "\n".join([line.decode(encoding) for line, encoding in lines])
        players = [match.span(1) for match in _PLAYERS_NAME().finditer(text)]
        others = (
            (begin, end)
            for begin, end in self._forgotten.places(text)
            if not any(first <= begin < last for first, last in players)
        )
        erased = [span for span in players if text[slice(*span)].replace('\\"', '"') in self._forgotten]
        places = sorted([*others, *erased])
        if not places:
            return data
        self.replaced = True
        hidden = {at: (at == begin, (begin, end) in erased) for begin, end in places for at in range(begin, end)}
        out, at = [], 0
        for line, encoding in lines:
            letters = line.decode(encoding)
            if any(at <= begin <= at + len(letters) or begin < at < end for begin, end in places):
                line = b"".join(
                    letter.encode(encoding) if number not in hidden else _hidden(letter, encoding, *hidden[number])
                    for number, letter in enumerate(letters, at)
                )
            out.append(line)
            at += len(letters) + 1
        return b"\n".join(out)

    def _silence(self, spoken: re.Match[str]) -> str:
        self._end = spoken.end()
        return spoken[0][: spoken.start("words") - spoken.start()] + _fill_lines(spoken["words"])


def _first(word: NameWord) -> str:
    return word.folded.partition(" ")[0]


def _are_apart(gap: str) -> bool:
    """Whether what is between two words divides them: one name does not have both."""
    return len(gap) > _LONGEST_GAP or "\n\n" in gap or "\n\r\n" in gap


def _encoding(line: bytes) -> str:
    try:
        line.decode()
    except UnicodeError:
        return "latin-1"
    return "utf-8"


def _hidden(letter: str, encoding: str, first: bool, whole: bool) -> bytes:
    """What replaces a letter of a name, in as many bytes; of a player's name also what separates words."""
    size = len(letter.encode(encoding))
    return letter.encode(encoding) if letter in _GAPS and not whole else (b"X" if first else b"_") + b"_" * (size - 1)


def _silence_datagram(spoken: re.Match[str]) -> str:
    return spoken[0][: spoken.start("words") - spoken.start()] + _fill_lines(spoken["words"])


def _fill(handle: str) -> str:
    return "X" + "_" * (len(handle) - 1)  # for ``recorder.model.is_forgotten``


def _fill_lines(words: str) -> str:
    out, done = "", 0
    for stays in _STAYS().finditer(words):
        out += fill(words[done : stays.start()].encode("latin-1")).decode("latin-1") + stays[0]
        done = stays.end()
    return out + fill(words[done:].encode("latin-1")).decode("latin-1")


def silenced(text: str) -> bool | None:
    """What a forgotten handle said, after ``text``: None: it is not; False: words are there; True: they are filled."""
    spoken = _SPOKEN_DATAGRAM().match(text) or _SPOKEN().fullmatch(text)
    return None if spoken is None else not _STAYS().sub("", spoken["words"]).strip(f" {FILLER.decode()}\r\n\t")
