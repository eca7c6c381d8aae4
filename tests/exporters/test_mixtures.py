"""Every picture, page and table of archives in which some games lack what others have: clocks, times, a base, moves."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from exporters.plots import PICTURES
from exporters.plots.catalogue import PlotOptions
from exporters.report.game import game_report
from exporters.report.player import player_values, render_player
from recorder import Archive
from recorder.archive.game_measures import CLOCK_TABLES, measure_games
from recorder.archive.pages.related import match_of
from recorder.archive.pages.reports import page_of_archive
from recorder.errors import ExportError
from storage import ArchiveStore as Storage
from storage import GameFilter
from tests.support.cli import Cli
from tests.support.effort import long_after
from tests.support.tables import records

CORPUS = Path(__file__).parents[1] / "corpus"
PLAYER = "Ada"
MOVES = (
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 11. Nbd2 "
    "Bb7 12. Bc2 Re8 13. Nf1 Bf8 14. Ng3 g6 15. a4 c5 16. d5 c4 17. Bg5 h6 18. Be3 Nc5 19. Qd2 h5 20. Bg5 Be7 21. Bh6 "
    "Nfd7 22. Nh2"
)


def pgn(black: str, moves: str, result: str, control: str | None = None) -> str:
    """A game of ``PLAYER`` as White."""
    tags = {"White": PLAYER, "Black": black, "Result": result, **({} if control is None else {"TimeControl": control})}
    return "".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + f"\n{moves} {result}\n\n"


def timed(moves: str, base_s: int) -> str:
    """The moves with clocks that run down from a base time."""
    left_ms, words, ply = [base_s * 1000] * 2, [], 0
    for word in moves.split():
        words.append(word)
        if not word.endswith("."):
            left_ms[ply % 2] -= 1500 + 777 * (ply % 5)
            seconds, ms = divmod(left_ms[ply % 2], 1000)
            words.append(f"{{[%clk 0:{seconds // 60:02}:{seconds % 60:02}.{ms:03}]}}")
            ply += 1
    return " ".join(words)


PLAIN = pgn("Bob", MOVES, "1-0")
TIMED = pgn("Cid", timed(MOVES, 300), "0-1", "300")
NO_BASE = pgn("Cid", timed(MOVES, 300), "1/2-1/2")
OTHER_BASE = pgn("Bob", timed(MOVES, 180), "1-0", "180+2")
UNTIMED = pgn("Bob", MOVES, "1-0", "-")
ONE_PLY = pgn("Dora", "1. e4", "1-0")
ONE_TIMED_PLY = pgn("Dora", timed("1. e4", 300), "*", "300")

MIXTURES: dict[str, tuple[str | Path, ...]] = {
    "no clocks": (PLAIN, UNTIMED, ONE_PLY),
    "some of all": (NO_BASE, TIMED, OTHER_BASE, UNTIMED, PLAIN, ONE_PLY),
    "one ply with a clock": (ONE_TIMED_PLY,),
    "lists": (CORPUS / "public" / "ictk-movelist-34.txt", CORPUS / "public" / "pychess-movelist-64.txt"),
    "variants": (
        CORPUS / "public" / "bughouse-db-3611438-with-lag.bpgn",
        CORPUS / "ficsgames" / "2009-crazyhouse.pgn",
        PLAIN,
    ),
}


@pytest.fixture(scope="module", params=long_after(3, MIXTURES))
def mixed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of one mixture."""
    folder = tmp_path_factory.mktemp("mixed")
    logs = []
    for number, part in enumerate(MIXTURES[request.param]):
        log = part if isinstance(part, Path) else folder / f"{number}.pgn"
        if isinstance(part, str):
            log.write_text(part)
        logs.append(log)
    cli = Cli(folder / "archive.sqlite")
    cli("import", *logs)
    return cli.archive


def member_of(archive: Archive) -> str | None:
    """The registered player with the most games."""
    sides = archive.sides()
    members = sides[~sides["player_guest"].fillna(False)]["player"].astype("string")
    return None if members.empty else str(members.mode()[0])


def choices(archive: Archive, scope: str) -> Iterator[tuple[pd.DataFrame, str | None]]:
    """What a picture may be about: the last game alone; all games, and those of one player."""
    if scope == "game":
        yield archive.plies(keys=archive.game_table()["key"].iloc[-1]), None
        return
    if scope != "player":
        yield archive.plies(), None
    player = member_of(archive)
    if player is not None and scope != "match":
        yield archive.plies(player=player), player


@pytest.mark.long
def test_every_picture_of_every_mixture_is_drawn_or_says_why_not(mixed: Path) -> None:
    archive, reasons = Archive(mixed), []
    chosen = {scope: list(choices(archive, scope)) for scope in {picture.scope for picture in PICTURES.values()}}
    for picture in PICTURES.values():
        for plies, player in chosen[picture.scope]:
            wishes = PlotOptions(player)
            try:
                assert picture.draw(plies, None, wishes) is not None
                table = picture.table(plies, wishes)
                assert len(table if isinstance(table, pd.DataFrame) else table.fetchall())
            except ExportError as error:
                reasons.append(str(error))
    assert all(sentence.endswith(".") for sentence in reasons)


@pytest.mark.long_except("some of all")
def test_every_page_of_every_mixture_is_written(mixed: Path) -> None:
    tables = Archive(mixed)
    player = member_of(tables)
    if player is not None:
        sides = records(tables.sides(player=player))
        page = render_player(player_values(tables.plies(player=player), sides, player=player), None)
        assert player in page.decode()
    with Storage.open(str(mixed), read_only=True) as archive:
        assert page_of_archive(archive, GameFilter()).html
        rows = records(tables.game_table())
        for row in (rows[0], rows[-1]):
            game = archive.game(row["key"])
            match, evidence = match_of(archive, game) or (None, "")
            assert game_report(game, match=match, evidence=evidence)


@pytest.mark.long
def test_every_table_of_clocks_of_every_mixture_is_made(mixed: Path) -> None:
    plies = len(Archive(mixed).plies())
    with Storage.open(str(mixed), read_only=True) as archive:
        for name, about in CLOCK_TABLES.items():
            counts = measure_games(archive, GameFilter(), name).table.attrs
            if not about.matches:
                assert counts["plies"] + sum(counts["excluded"].values()) == plies
