"""Tag pairs of a game, and server text in the form that PGN allows.

Unknown values have no tag, except the seven that PGN requires.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Final

from exporters.pgn.parts import PgnPart, is_chess_fen
from recorder.corrections import changed_tags, hidden_tags
from recorder.model import (
    CLOCK_DERIVED,
    ELAPSED_DERIVED,
    EventKind,
    Game,
    GameEnd,
    GameEvent,
    GameKind,
    ObservationKind,
    Origin,
    Player,
    TimeBasis,
    control_of,
    printed_control,
)
from recorder.model.games import rated_word
from recorder.rules.variants import pgn_variant
from recorder.times import date_of, start_clock, start_of_second

_REMARK = "Bughouse: what came from the other board is in hand from the start"
_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
_ORDER = "QRBNP"


def as_crazyhouse(game: Game, parts: list[PgnPart]) -> tuple[Game, list[PgnPart]]:
    """Each part begins with all pieces in hand that are dropped in it, which in bughouse come from the other board."""
    beside = Counter(
        (ply.white_moved, _dropped(ply.san))
        for observation in game.observations
        for line in observation.lines[1:]
        for ply in line.plies
        if "@" in ply.san
    )
    boards = [part if part.fen is None and part.start_ply else _with_holdings(part, beside) for part in parts]
    return replace(game, variant="crazyhouse", start_fen=boards[0].fen), boards


def _with_holdings(part: PgnPart, beside: Counter[tuple[bool, str]]) -> PgnPart:
    placement, _, rest = (part.fen or _START).partition(" ")
    dropped = beside + Counter((ply.white_moved, _dropped(ply.san)) for ply in part.plies if "@" in ply.san)
    holdings = "".join(letter * dropped[True, letter] for letter in _ORDER)
    holdings += "".join(letter.lower() * dropped[False, letter] for letter in _ORDER)
    return replace(part, fen=f"{placement.partition('[')[0]}[{holdings}] {rest}", remark=_REMARK)


def _dropped(san: str) -> str:
    return "P" if san[0] == "@" else san[0]


_MILLISECONDS: Final = re.compile(r"[0-9]+\+[0-9]+000", re.ASCII)  # an increment as one client writes it
#: Tags that the FICS style writes itself.
_IN_FICS_STYLE: Final = frozenset(
    ("Event", "Site", "TimeControl", "Date", "Time", "WhiteClock", "BlackClock", "Variant", "FEN", "SetUp")
)
_OPENING: Final = frozenset(("ECO", "Opening", "Variation"))
_ECO: Final = re.compile(
    r"([A-Ea-e][0-9]{2}(?:[a-z][0-9]?|/[0-9]{1,2}|\*)?(?![A-Za-z0-9]))?[ :,;-]*+(.*)", re.ASCII | re.DOTALL
)
#: Tags of the FICS archive that no log contains, by the tag of ours that they follow.
_FICS: Final = {"Site": ("FICSGamesDBGameNo",), "BlackElo": ("WhiteRD", "BlackRD"), "BlackClock": ("ECO",)}


def is_saved(game: Game) -> bool:
    return bool(game.observations) and all(observation.kind is ObservationKind.PGN for observation in game.observations)


def saved_tags(game: Game) -> list[GameEvent]:
    """Each name once."""
    by_name: dict[str, GameEvent] = {}
    for observation in game.observations:
        if observation.kind is ObservationKind.PGN:
            for event in observation.events:
                if event.kind is EventKind.TAG:
                    by_name.setdefault(event.detail, event)
    hidden = hidden_tags(game)
    return [event for name, event in by_name.items() if name not in hidden]


def with_saved_tags(text: str, game: Game, part: PgnPart, saved: bool) -> str:
    """If all sources are saved, the PGN's tags replace ours; with its opening none of ours is written."""
    values = _opening_named({event.detail: event.text for event in saved_tags(game)})
    if not saved or part.start_ply != game.start_ply or part.remark is not None:
        for name in ("FEN", "SetUp"):
            values.pop(name, None)
    if saved and game.category is None and part.remark is None and "Event" not in changed_tags(game):
        values.setdefault("Event", "?")
    if not values:
        return text
    lines = tag_lines(text)
    if not _OPENING.isdisjoint(values):  # a code of one table and a name of another say nothing
        lines = [line for line in lines if line[1 : line.index(" ")] not in _OPENING - values.keys()]
    date = values.get("Date", "?")
    if saved and "Time" not in values and _is_preferred("Date", date) and tag("Date", date) not in lines:
        lines = [line for line in lines if not line.startswith("[Time ")]  # the date is local, the time that of UTC
    names = [line[1 : line.index(" ")] for line in lines]
    out = []
    for name, line in zip(names, lines, strict=True):
        unknown = line.endswith(('"?"]\n', '"????.??.??"]\n'))
        value = values.get(name)
        preferred = name in _OPENING or saved
        if value is None or not preferred or not (unknown or _is_preferred(name, value)):
            out.append(line)
        else:
            out.append(tag(name, value))
    out[-1:-1] = [tag(name, text) for name, text in values.items() if name not in names]
    return "".join(out)


def with_corrected_tags(text: str, game: Game) -> str:
    changed = changed_tags(game)
    if not changed:
        return text
    lines = tag_lines(text)
    before = next((line.split('"')[1].split() for line in lines if line.startswith(f"[{_EDITED} ")), [])
    wanted = {name: value for name, value in changed.items() if value is not None}
    wanted[_EDITED] = " ".join(dict.fromkeys((*before, *changed)))
    places = {line[1 : line.index(" ")]: index for index, line in enumerate(lines)}
    for name, value in wanted.items():
        if name in places:
            lines[places[name]] = tag(name, value)
        else:
            lines.insert(len(lines) - 1, tag(name, value))
    return "".join(lines)


def _opening_named(values: dict[str, str]) -> dict[str, str]:
    """A name of the opening beside its code, or in its place, is a tag of its own."""
    match = _ECO.fullmatch(values.get("ECO", ""))
    if match is None or match[2] in ("", "?") or "Opening" in values:
        return values
    named = {"ECO": match[1], "Opening": match[2]} if match[1] else {"Opening": match[2]}
    return {name: value for name, value in values.items() if name != "ECO"} | named


def _is_preferred(name: str, value: str) -> bool:
    """It has the form of PGN, and is no count."""
    if name == "Date":
        return "-" not in value and "?" not in value
    if name == "TimeControl":
        return _MILLISECONDS.fullmatch(value) is None
    return name not in ("Result", "PlyCount") and (name != "Variant" or value not in ("", "?", "-"))


def with_fics_tags(text: str, game: Game) -> str:
    """In the order of the FICS archive."""
    wanted = frozenset[str]().union(*_FICS.values())
    named = _opening_named({event.detail: event.text for event in saved_tags(game)})
    rest = {name: value for name, value in named.items() if name in wanted}
    out = []
    for line in tag_lines(text) if rest else ():
        name = line[1 : line.index(" ")]
        if name == "Result":
            out += [tag(*pair) for pair in rest.items()]
        out.append(line)
        out += [tag(fics, rest.pop(fics)) for fics in _FICS.get(name, ()) if fics in rest]
    return "".join(out) or text


def add_losses(excluded: Counter[str], game: Game, *, clock: frozenset[str], fics: bool, lichess: bool) -> None:
    clk, emt, lag = (not fics and "clk" in clock), (bool(clock) if fics else "emt" in clock), "lag" in clock
    for ply in game.plies:
        clock_ms = ply.clock_ms
        derived = ply.precision_code in CLOCK_DERIVED
        if clock_ms is not None and not derived and not clk:
            excluded["clocks"] += 1
        if clock_ms is not None and clk and lichess and (clock_ms % 1000 or clock_ms < 0):
            excluded["clocks cut to whole seconds"] += 1
        printed = ply.elapsed_ms is not None and ply.precision_code not in ELAPSED_DERIVED
        printed = printed and ply.origin_code != Origin.COMMENT  # which is written as it is
        if printed and (not emt or lichess):
            excluded["elapsed times"] += 1
        if ply.lag_ms is not None and (not lag or fics or lichess):
            excluded["lags"] += 1
    if fics:
        kept = _IN_FICS_STYLE.union(*_FICS.values())
        lost = [event for event in saved_tags(game) if event.detail not in kept and event.text not in ("", "?")]
        excluded["tags"] += len(lost)


KEY_TAG = "RecorderKey"
_EDITED = "RecorderEdited"
_PERIOD = r"\*?[0-9]+(?:/[0-9]+)?(?:\+[0-9]+(?:\.[0-9]+)?)?"
_PGN_CONTROL = re.compile(rf"-|{_PERIOD}(?::{_PERIOD})*", re.ASCII)
_FAMILIES = {
    "fics": "FICS",
    "fatics": "FatICS",
    "icc": "ICC",
    "bics": "BICS",
    "lasker": "Lasker",
    "capablanca": "Capablanca",
    "cecp": "Engine",
}
CHESS_TITLES = ("GM", "IM", "FM", "CM", "NM", "WGM", "WIM", "WFM", "WCM")


def tags(
    game: Game,
    part: PgnPart,
    number: int,
    count: int,
    last: bool = True,
    annotator: str | None = None,
    *,
    in_progress: bool = False,
) -> str:
    """``number`` of ``count``: the part's, from 1; ``last``: it ends the main line. No tag ends a game in progress."""
    end = game.end if game.end is not GameEnd.RESULT and not in_progress else None
    day, white, black = game.day, game.white, game.black
    lines = [
        tag("Event", event_name(game)),
        tag("Site", game.server or "?"),
        tag("Date", f"{day:%Y.%m.%d}" if day else "????.??.??"),
        tag("Round", "-"),
        tag("White", white.handle or "?"),
        tag("Black", black.handle or "?"),
        tag("Result", game.result if last else "*"),
        *_time_control(game),
        *_about("White", white),
        *_about("Black", black),
    ]
    lines += _times(game, in_progress)
    lines += _beginning(game, part)
    termination = game.termination if last else "unterminated"
    if termination:
        lines.append(tag("Termination", termination))
    lines.append(f'[PlyCount "{part.count}"]\n')
    if count > 1:
        lines.append(f'[RecorderPart "{number}/{count}"]\n')
    if not game.complete:
        lines.append('[RecorderComplete "no"]\n')
    if end:
        lines.append(tag("RecorderEnd", end))
    if game.game_no is not None:
        lines.append(f'[ICSGameNo "{game.game_no}"]\n')
    saved = is_saved(game)
    if saved and any(row[12] in CLOCK_DERIVED for row in part.rows):
        lines.append('[RecorderClocks "derived"]\n')
    if saved and end is GameEnd.LOG_ENDS:
        lines.remove(tag("RecorderEnd", end))
    lines.append(tag(KEY_TAG, game.key))
    return _annotated(with_corrected_tags(with_saved_tags("".join(lines), game, part, saved), game), annotator)


def _beginning(game: Game, part: PgnPart) -> Iterator[str]:
    yield _variant(game)
    if part.fen is not None and (part.start_ply or game.start_fen is not None or part.beside is not None):
        # No program must set up a position that is not chess, so that has another tag.
        yield '[SetUp "1"]\n' + tag("FEN", part.fen) if is_chess_fen(part.fen) else tag("RecorderBoard", part.fen)
    if (opening := game.opening) is not None:
        yield tag("ECO", opening.eco)
        yield tag("Opening", opening.family)
        if opening.variation is not None:
            yield tag("Variation", opening.variation)


def _times(game: Game, in_progress: bool) -> Iterator[str]:
    begun, day = start_of_second(game), game.day
    ended = None if in_progress else date_of(game.ended_at_ms, game.time_basis)
    utc = game.time_basis is TimeBasis.UTC
    if begun:
        yield tag("Time", f"{begun:%H:%M:%S}")
    if begun and utc:
        yield tag("UTCDate", f"{begun:%Y.%m.%d}") + tag("UTCTime", f"{begun:%H:%M:%S}")
    elif utc and day and game.started_at_ms is not None:
        yield tag("UTCDate", f"{day:%Y.%m.%d}")
    if ended and utc:
        yield tag("UTCEndDate", f"{ended:%Y.%m.%d}") + tag("UTCEndTime", f"{ended:%H:%M:%S}")


def fics_tags(game: Game, part: PgnPart, last: bool, annotator: str | None = None) -> str:
    """No Round, no SetUp, Result last; only that archive gives FICSGamesDBGameNo. Source: its files of 2009 to 2022."""
    begun = start_of_second(game)
    white, black = game.white, game.black
    unknown = is_saved(game) and game.category is None and "Event" not in (one.detail for one in saved_tags(game))
    event = "?" if unknown and part.remark is None else event_name(game)
    lines = [tag("Event", event), tag("Site", _fics_site(game)), tag("White", white.handle or "?")]
    lines.append(tag("Black", black.handle or "?"))
    lines += [
        f'[{side}Elo "{player.rating}"]\n'
        for side, player in (("White", white), ("Black", black))
        if player.rating is not None
    ]
    lines += [f'[{side}IsComp "Yes"]\n' for side, player in (("White", white), ("Black", black)) if player.is_computer]
    (white_base, increment_s), (black_base, _) = control_of(game, True), control_of(game, False)
    if white_base is not None and increment_s is not None:
        base = 0 if game.base_inferred else white_base
        lines.append(f'[TimeControl "{base}+{increment_s}"]\n')
    if begun:
        lines.append(f'[Date "{begun:%Y.%m.%d}"]\n[Time "{begun:%H:%M:%S}"]\n')
    elif day := game.day:
        lines.append(f'[Date "{day:%Y.%m.%d}"]\n')
    if white_base is not None and black_base is not None:
        lines.append(f'[WhiteClock "{start_clock(white_base)}"]\n[BlackClock "{start_clock(black_base)}"]\n')
    opening = game.opening
    if opening is not None and _OPENING.isdisjoint(event.detail for event in saved_tags(game)):
        lines.append(tag("ECO", opening.eco))
    lines.append(_variant(game))
    if part.fen is not None and (part.start_ply or game.start_fen is not None or part.beside is not None):
        lines.append(tag("FEN" if is_chess_fen(part.fen) else "RecorderBoard", part.fen))
    lines.append(f'[PlyCount "{part.count}"]\n')
    lines.append(tag("Result", game.result if last else "*"))
    return _annotated(with_corrected_tags(with_fics_tags("".join(lines), game), game), annotator)


def _annotated(text: str, annotator: str | None) -> str:
    """Before the last tag pair, behind the names that the tag has already."""
    if annotator is None:
        return text
    *lines, last = tag_lines(text)
    ours = tag("Annotator", annotator)
    begin, name = '[Annotator "', ours[len('[Annotator "') : -len('"]\n')]
    for index, line in enumerate(lines):
        if line.startswith(begin):
            value = line[len(begin) : -len('"]\n')]
            if name not in value.split("; "):
                lines[index] = f'{begin}{value}; {name}"]\n'
            return "".join([*lines, last])
    return "".join([*lines, ours, last])


def event_name(game: Game) -> str:
    """``FICS rated blitz game``; boards of an examination have its rating and speed, not those of the game."""
    family = _FAMILIES.get((game.dialect or "").lower(), game.dialect) or "ICS"
    if game.kind is not GameKind.PLAYED:
        return " ".join(word for word in (family, "examined", _printed_variant(game), "game") if word)
    words = (family, rated_word(game), game.category or _printed_variant(game), "game")
    return " ".join(filter(None, words))


def variant_name(game: Game) -> str | None:
    """None for normal chess, an unknown variant and a name that other programs refuse."""
    return pgn_variant(game.variant)


def _variant(game: Game) -> str:
    """The tag of the variant: of our own where other programs do not know its name, and can read its moves as chess."""
    if name := variant_name(game):
        return tag("Variant", name)
    return tag("RecorderVariant", game.variant) if game.variant not in (None, "chess") else ""


def _printed_variant(game: Game) -> str | None:
    return None if game.variant in (None, "chess") else game.variant


def _fics_site(game: Game) -> str:
    server = game.server or "?"
    return "FICS freechess.org" if server.lower() in ("fics", "freechess.org", "fics freechess.org") else server


def _time_control(game: Game) -> list[str]:
    white, black = _control(*control_of(game, True)), _control(*control_of(game, False))
    control = printed_control(game) if white == black == "?" else None
    if control is not None and _PGN_CONTROL.fullmatch(control):
        white = black = control
    if white == black:
        return [f'[TimeControl "{white}"]\n']
    return [f'[TimeControl "?"]\n[WhiteTimeControl "{white}"]\n[BlackTimeControl "{black}"]\n']


def _control(base_s: int | None, increment_s: int | None) -> str:
    if base_s is None or increment_s is None:
        return "?"
    return f"{base_s}+{increment_s}" if base_s or increment_s else "-"


def _about(side: str, player: Player) -> list[str]:
    lines = [] if player.rating is None else [f'[{side}Elo "{player.rating}"]\n']
    if player.titles:
        words = player.title_words
        lines += [f'[{side}Title "{word}"]\n' for word in words if word in CHESS_TITLES][:1]
        if "C" in words:
            lines.append(f'[{side}IsComp "Yes"]\n')
    return lines


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def decoded(text: str) -> str:
    if not text.isascii():
        with suppress(UnicodeError):  # then it is latin-1, or was decoded before
            text = text.encode("latin-1").decode("utf-8")
    return text


def readable(text: str) -> str:
    """Decoded, without control bytes."""
    if text.isascii() and text.isprintable():
        return text  # the common case
    return _CONTROL.sub(" ", decoded(text))


def tag(name: str, value: str) -> str:
    """PGN standard 8.1: backslash and quote are escaped by a backslash."""
    if not (value.isascii() and value.isalnum()):
        value = readable(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{value}"]\n'


def tag_lines(text: str) -> list[str]:
    """Tag pairs line by line, each with its line feed; U+2028 and other characters of a value end no line."""
    return [f"{line}\n" for line in text.split("\n")[:-1]]
