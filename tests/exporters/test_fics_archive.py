"""``--style fics`` gives the FICS games database's own bytes back, for games rebuilt from its files."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.model import Game, Player
from tests.exporters.games import board_for, make_game
from tests.exporters.pgn_reader import ReadGame, read_pgn

ARCHIVE = Path(__file__).parent.parent / "corpus" / "ficsgames"
VARIANTS = {"wild/fr": "chess960"}
# The archive's own number is not known to a server's log; exports of 2009 lack the two others, later ones have them.
NOT_COMPARED = ('[FICSGamesDBGameNo "', '[Time "', '[Variant "')


def milliseconds(seconds: str) -> int:
    whole, fraction = seconds.split(".")
    return 1000 * int(whole) + int(fraction.ljust(3, "0"))


def rebuild(read: ReadGame) -> Game:
    """The game as a log of it would give it: handles in the reason, UCI moves, elapsed milliseconds."""
    tags = read.tags
    _, rated, category, _ = tags["Event"].split(" ")
    variant = VARIANTS.get(category, category)
    board = board_for(variant, tags.get("FEN"))
    moves = []
    for move in read.moves:
        played = board.parse_san(move.san)
        moves.append(board.uci(played))
        board.push(played)
    elapsed = [milliseconds(move.commands["emt"]) for move in read.moves]
    base_s, increment_s = map(int, tags["TimeControl"].split("+"))
    colours = (read.moves[-1].comments if read.moves else read.before)[-1]
    reason = colours.replace("White", tags["White"]).replace("Black", tags["Black"])
    begun = datetime.strptime(tags["Date"], "%Y.%m.%d").replace(tzinfo=UTC)
    game = make_game(
        moves,
        variant=variant,
        start_fen=tags.get("FEN"),
        clocks=lambda ply: (None, None, elapsed[ply - 1], None),
        server="FICS",
        category=category,
        rated=rated == "rated",
        white=Player(tags["White"], None, int(tags["WhiteElo"])),
        black=Player(tags["Black"], None, int(tags["BlackElo"])),
        base_s=base_s or 10,
        increment_s=increment_s,
        base_inferred=base_s == 0,
        reason=reason,
        result=tags["Result"],
        started_at_ms=int(begun.timestamp()) * 1000,
    )
    return replace(game, dialect="fics")


def comparable(text: str) -> list[str]:
    lines = text.replace('[Site "FICS freechess.org"]', '[Site "FICS"]').split("\r\n")
    return [line for line in lines if not line.startswith(NOT_COMPARED)]


@pytest.mark.parametrize("path", sorted(ARCHIVE.glob("*.pgn")), ids=lambda path: path.stem)
def test_archive_games_come_back(path: Path) -> None:
    text = path.read_bytes().decode("ascii")
    text = text.replace(" Qf6f7 ", " Q6f7 ")  # once in these files the whole square is named where the rank is enough
    games = read_pgn(text)
    assert len(games) == 6
    exporter = PgnExporter(PgnOptions(style="fics"))
    written = "".join(exporter.game_text(rebuild(game)) for game in games)
    assert comparable(written) == comparable(text)
