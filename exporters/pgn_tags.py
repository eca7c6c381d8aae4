"""The tag pairs of a game. What is not known has no tag, but for the seven that PGN demands."""

from __future__ import annotations

import re

from exporters.parts import Part, is_chess_fen
from exporters.pgn_saved import is_saved, with_fics_tags, with_saved_tags
from exporters.pgn_text import tag, tag_lines
from exporters.times import date_of, start_clock, start_of_second
from recorder.model import CLOCK_DERIVED, EventKind, Game, GameKind, Player, TimeBasis, control_of
from recorder.variants import pgn_variant

__all__ = [
    "CHESS_TITLES",
    "KEY_TAG",
    "event_name",
    "fics_tags",
    "tags",
    "variant_name",
]

KEY_TAG = "RecorderKey"

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
    part: Part,
    number: int,
    count: int,
    last: bool = True,
    annotator: str | None = None,
    *,
    in_progress: bool = False,
) -> str:
    """Tag pairs in the default style: the seven-tag roster first, then what is known.

    Args:
        part, number, count: the part that follows; parts are numbered from 1. last: it is the main line's last one.
        annotator: the engine that evaluated it. in_progress: its log is still being written: it has no end.
    """
    end = game.end if game.end != "result" and not in_progress else None
    begun, day = start_of_second(game), game.day
    ended = None if in_progress else date_of(game.ended_at_ms, game.time_basis)
    utc = game.time_basis is TimeBasis.UTC
    white, black = game.white, game.black
    found = [
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
    if begun:
        found.append(tag("Time", f"{begun:%H:%M:%S}"))
    if begun and utc:
        found.append(tag("UTCDate", f"{begun:%Y.%m.%d}") + tag("UTCTime", f"{begun:%H:%M:%S}"))
    elif utc and day and game.started_at_ms is not None:
        found.append(tag("UTCDate", f"{day:%Y.%m.%d}"))
    if ended and utc:
        found.append(tag("UTCEndDate", f"{ended:%Y.%m.%d}") + tag("UTCEndTime", f"{ended:%H:%M:%S}"))
    if variant := variant_name(game):
        found.append(tag("Variant", variant))
    if part.fen is not None and (part.start_ply or game.start_fen is not None or part.beside is not None):
        # Readers must not try to set up a position that is none of chess.
        found.append(
            '[SetUp "1"]\n' + tag("FEN", part.fen) if is_chess_fen(part.fen) else tag("RecorderBoard", part.fen)
        )
    termination = game.termination if last else "unterminated"
    if termination:
        found.append(tag("Termination", termination))
    found.append(f'[PlyCount "{part.count}"]\n')
    if count > 1:
        found.append(f'[RecorderPart "{number}/{count}"]\n')
    if not game.complete:
        found.append('[RecorderComplete "no"]\n')
    if end:
        found.append(tag("RecorderEnd", end))
    if game.game_no is not None:
        found.append(f'[ICSGameNo "{game.game_no}"]\n')
    saved = is_saved(game)
    if saved and any(row[12] in CLOCK_DERIVED for row in part.rows):
        found.append('[RecorderClocks "derived"]\n')
    if saved and end == "log-ends":
        found.remove(tag("RecorderEnd", end))
    found.append(tag(KEY_TAG, game.key))
    return _annotated(with_saved_tags("".join(found), game, saved), annotator)


def fics_tags(game: Game, part: Part, last: bool, annotator: str | None = None) -> str:
    """Tag pairs as the FICS games database writes them: no Round, no SetUp, Result last.

    Source: files of that archive of 2009 to 2022. Its own number (FICSGamesDBGameNo) is not ours to give.

    Args:
        annotator: the engine that evaluated it, if that is written; the archive has no such tag.
    """
    begun = start_of_second(game)
    white, black = game.white, game.black
    found = [tag("Event", event_name(game)), tag("Site", _fics_site(game)), tag("White", white.handle or "?")]
    found.append(tag("Black", black.handle or "?"))
    found += [
        f'[{side}Elo "{player.rating}"]\n'
        for side, player in (("White", white), ("Black", black))
        if player.rating is not None
    ]
    found += [f'[{side}IsComp "Yes"]\n' for side, player in (("White", white), ("Black", black)) if player.is_computer]
    (white_base, increment_s), (black_base, _) = control_of(game, True), control_of(game, False)
    if white_base is not None and increment_s is not None:
        base = 0 if game.base_inferred else white_base
        found.append(f'[TimeControl "{base}+{increment_s}"]\n')
    if begun:
        found.append(f'[Date "{begun:%Y.%m.%d}"]\n[Time "{begun:%H:%M:%S}"]\n')
    elif day := game.day:
        found.append(f'[Date "{day:%Y.%m.%d}"]\n')
    if white_base is not None and black_base is not None:
        found.append(f'[WhiteClock "{start_clock(white_base)}"]\n[BlackClock "{start_clock(black_base)}"]\n')
    if variant := variant_name(game):
        found.append(tag("Variant", variant))
    if part.fen is not None and (part.start_ply or game.start_fen is not None or part.beside is not None):
        found.append(tag("FEN" if is_chess_fen(part.fen) else "RecorderBoard", part.fen))
    found.append(f'[PlyCount "{part.count}"]\n')
    found.append(tag("Result", game.result if last else "*"))
    return _annotated(with_fics_tags("".join(found), game), annotator)


def _annotated(text: str, annotator: str | None) -> str:
    """Tag pairs, and who evaluated the game before the last one; who annotated it before stays named."""
    if annotator is None:
        return text
    *lines, last = tag_lines(text)
    ours = tag("Annotator", annotator)
    begin, name = '[Annotator "', ours[len('[Annotator "') : -len('"]\n')]
    for place, line in enumerate(lines):
        if line.startswith(begin):
            told = line[len(begin) : -len('"]\n')]
            if name not in told.split("; "):
                lines[place] = f'{begin}{told}; {name}"]\n'
            return "".join([*lines, last])
    return "".join([*lines, ours, last])


def event_name(game: Game) -> str:
    """``FICS rated blitz game``; words that are not known are left out.

    ``FICS examined game``: what boards say of an examination's rating and speed is not about the game that it shows.
    """
    family = _FAMILIES.get((game.dialect or "").lower(), game.dialect) or "ICS"
    if game.kind is not GameKind.PLAYED:
        return " ".join(word for word in (family, "examined", _told_variant(game), "game") if word)
    rated = None if game.rated is None else "rated" if game.rated else "unrated"
    return " ".join(word for word in (family, rated, game.category or _told_variant(game), "game") if word)


def variant_name(game: Game) -> str | None:
    """The Variant tag, or None for normal chess and where the variant is not known."""
    return pgn_variant(game.variant)


def _told_variant(game: Game) -> str | None:
    return None if game.variant in (None, "chess") else game.variant


def _fics_site(game: Game) -> str:
    server = game.server or "?"
    return "FICS freechess.org" if server.lower() in ("fics", "freechess.org", "fics freechess.org") else server


def _time_control(game: Game) -> list[str]:
    white, black = _control(*control_of(game, True)), _control(*control_of(game, False))
    if white == black == "?" and (told := _told_control(game)) is not None:
        white = black = told
    if white == black:
        return [f'[TimeControl "{white}"]\n']
    return [f'[TimeControl "?"]\n[WhiteTimeControl "{white}"]\n[BlackTimeControl "{black}"]\n']


def _told_control(game: Game) -> str | None:
    """A control of several periods and the like, as an engine's interface or ICC told it; None: in other words."""
    told = (event.text for event in game.events if event.kind is EventKind.NOTICE and event.detail == "time-control")
    text = next(told, "")
    return text if _PGN_CONTROL.fullmatch(text) else None


def _control(base_s: int | None, increment_s: int | None) -> str:
    if base_s is None or increment_s is None:
        return "?"
    return f"{base_s}+{increment_s}" if base_s or increment_s else "-"


def _about(side: str, player: Player) -> list[str]:
    found = [] if player.rating is None else [f'[{side}Elo "{player.rating}"]\n']
    if player.titles:
        words = player.title_words
        found += [f'[{side}Title "{word}"]\n' for word in words if word in CHESS_TITLES][:1]
        if "C" in words:
            found.append(f'[{side}IsComp "Yes"]\n')
    return found
