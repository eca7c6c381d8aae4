"""Moving pictures of games: what each shows and for how long, as programs read the files."""

import io
import random
from collections.abc import Iterator
from typing import Any

import chess
import pytest
from PIL import Image, ImageChops, ImageSequence

from exporters.moving_picture import TICK_MS, Film, Look, draw_piece, write_film
from recorder.errors import ExportError
from recorder.model import Game, HoldingsChange, LineKind, Player, PlyLine, Precision
from recorder.relating.match import Match
from tests.exporters.games import STARTED_AT_MS, make_game

_LIGHT, _DARK = (235, 231, 220), (143, 165, 174)


def _film(game: Game, **look: Any) -> Film:
    return Film(game, None, Look(**look))


def _opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def _pictures(data: bytes) -> Iterator[tuple[int, Image.Image]]:
    """How long each picture lasts in milliseconds, and the picture, as another program reads it."""
    for picture in ImageSequence.Iterator(_opened(data)):
        yield picture.info["duration"], picture.convert("RGB")


def _corner(picture: Image.Image, square: str, size: int = 400) -> tuple[int, ...]:
    """The colour of a square's upper right corner, where no piece is, from White's side."""
    side = size // 8
    top = (picture.height - 8 * side - round(side * 0.5)) // 2
    x = side // 4 + side * ("abcdefgh".index(square[0]) + 1) - 3
    found = picture.getpixel((x, top + side * (8 - int(square[1])) + 3))
    assert isinstance(found, tuple)
    return found


def _long_game(plies: int) -> Game:
    """A game of legal moves without an aim, with think times of 1 to 14 seconds."""
    chance, board, moves, left = random.Random(4), chess.Board(), [], [300_000, 300_000]
    times = [chance.choice((1, 1, 2, 3, 4, 5, 8, 14)) * 1000 for _ in range(plies)]

    def clocks(ply: int) -> tuple[int, int, int, int]:
        left[(ply + 1) % 2] -= times[ply - 1]
        return left[0], left[1], times[ply - 1], 0

    for _ in range(plies):
        moves.append(chance.choice(sorted(move.uci() for move in board.legal_moves)))
        board.push_uci(moves[-1])
    game = make_game(moves, clocks=clocks, precision=Precision.SECONDS)
    plies = [ply._replace(at_ms=STARTED_AT_MS + sum(times[: ply.ply])) for ply in game.plies]
    game.observations[0].lines[0] = PlyLine(0, LineKind.MAIN, None, None, plies)
    return game


@pytest.mark.parametrize("letter", "PNBRQKpnbrqk")
def test_every_piece_is_in_the_middle_of_its_square(letter: str) -> None:
    drawn = draw_piece(letter, 90)
    left, top, right, bottom = drawn.getbbox() or (0, 0, 0, 0)
    assert abs(left + right - 90) < 8
    assert 8 < top < 30
    assert 76 < bottom < 86
    inside = Image.new("RGB", drawn.size, "white")
    inside.paste(drawn, mask=drawn)
    covered = sum(drawn.getchannel("A").histogram()[128:])
    dark = sum(inside.convert("L").histogram()[:128])
    assert (dark / covered > 0.6) is letter.islower()


def test_a_picture_of_each_position_and_both_clocks_run() -> None:
    film = _film(_long_game(20))
    found = list(_pictures(write_film(film, "gif")))
    assert sum(ms for ms, _ in found) == film.ticks * TICK_MS
    assert all(ms >= TICK_MS for ms, _ in found)
    assert len(found) > 2 * 20  # more than one picture of each position: of the clocks
    shown = {picture.tobytes() for _, picture in found}
    assert len(shown) == len(found)


def test_what_a_gif_excludes_is_as_before() -> None:
    film = _film(_long_game(12))
    drawn = [screen.canvas.copy() for _, screen in film.pictures()]
    data = write_film(film, "gif")
    colours = data[13 : 13 + 768]
    for (_, picture), numbers in zip(_pictures(data), drawn, strict=True):
        numbers.putpalette(colours)
        assert ImageChops.difference(picture, numbers.convert("RGB")).getbbox() is None


def test_an_usual_game_is_a_small_file() -> None:
    assert len(write_film(_film(_long_game(80)), "gif")) < 600_000


def test_a_still_shows_the_position_and_marks_the_last_move() -> None:
    picture = _opened(_film(make_game(), first=1, last=1).still()).convert("RGB")
    assert _corner(picture, "a1") == _DARK
    assert _corner(picture, "b1") == _LIGHT
    assert _corner(picture, "e2") not in (_LIGHT, _DARK)
    assert _corner(picture, "e4") not in (_LIGHT, _DARK)
    end = _opened(_film(make_game()).still()).convert("RGB")
    assert _corner(end, "e4") == _LIGHT
    assert _corner(end, "f7") not in (_LIGHT, _DARK)
    turned = _opened(_film(make_game(), first=0, last=0, flip=True).still()).convert("RGB")
    start = _opened(_film(make_game(), first=0, last=0).still()).convert("RGB")
    assert turned.size == start.size
    assert ImageChops.difference(turned, start).getbbox() is not None


def test_no_position_is_shown_longer_than_asked_or_too_short_to_see() -> None:
    game = _long_game(30)
    assert _film(game, max_pause_ms=500).ticks < _film(game).ticks < _film(game, speed=1, max_pause_ms=20_000).ticks
    fastest = _film(game, speed=1000.0)
    assert fastest.ticks * TICK_MS == 30 * 200 + 3000


def test_a_part_of_a_game() -> None:
    film = _film(make_game(), first=2, last=4)
    first = next(_pictures(write_film(film, "gif")))[1]
    still = _opened(_film(make_game(), first=2, last=2).still()).convert("RGB")
    assert [_corner(first, square) for square in ("e7", "e5")] == [_corner(still, square) for square in ("e7", "e5")]
    assert film.ticks < _film(make_game()).ticks


@pytest.mark.parametrize(
    ("look", "sentence"),
    [
        ({"last": 8}, "Game 01234567 has half-moves 0 to 7: 8 is none of them."),
        ({"first": 5, "last": 3}, "The picture would end with half-move 3, before it begins with 5."),
    ],
)
def test_half_moves_that_there_are_not(look: dict[str, int], sentence: str) -> None:
    with pytest.raises(ExportError, match=sentence):
        _film(make_game(), **look)


def test_a_picture_of_hours_is_refused_before_it_is_drawn() -> None:
    film = _film(_long_game(80), speed=1 / 100, max_pause_ms=10**9)
    with pytest.raises(ExportError, match=r"would last [0-9]+ minutes: raise --speed or lower --max-pause\."):
        write_film(film, "gif")


def test_a_game_of_unknown_positions_is_no_picture() -> None:
    with pytest.raises(ExportError, match="nothing to draw"):
        _film(make_game(variant=None, start_ply=10))


def test_positions_and_pieces_that_are_unknown_are_squares_and_letters() -> None:
    """A move that is not known, and pieces in hand that chess has not."""
    game = make_game()
    plies = [ply._replace(move=None) if ply.ply == 4 else ply for ply in game.plies]
    game.observations[0].lines[0] = PlyLine(0, LineKind.MAIN, None, None, plies)
    seen = make_game(variant="crazyhouse")
    seen.observations[0].holdings.append(HoldingsChange(0, 0, "PH", "Q", None, None, 1))
    for one in (game, seen):
        assert write_film(_film(one, size=120), "gif")
        assert _film(one, size=120).still()


def test_names_of_any_letters_and_length_stay_in_their_place() -> None:
    names = [Player(name, None, None) for name in ("W" * 300, "\u202e\x1b[31mЧигорин 中文")]
    long, short = (
        _opened(_film(make_game(white=white, black=names[1])).still()).convert("RGB")
        for white in (names[0], Player("A", None, None))
    )
    assert long.size == short.size
    box = ImageChops.difference(long, short).getbbox()
    assert box[2] < long.width - 100  # left of the clock


def test_both_boards_of_bughouse_are_side_by_side() -> None:
    a, b = (make_game(["e2e4", "e7e5"], variant="bughouse", key=letter * 20) for letter in "ab")
    film = Film(a, Match(a, b), Look())
    picture = _opened(film.still())
    assert picture.width == 2 * _opened(_film(make_game()).still()).width
    assert sum(ms for ms, _ in _pictures(write_film(film, "gif"))) == film.ticks * TICK_MS


def test_webp() -> None:
    film = _film(_long_game(4), size=120)
    data = write_film(film, "webp")
    picture = _opened(data)
    assert (picture.format, picture.size) == ("WEBP", _opened(film.still()).size)
    assert getattr(picture, "n_frames", 1) > 4
