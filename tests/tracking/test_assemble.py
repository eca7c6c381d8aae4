"""Facts of a finished game: completeness, end, times and key."""

from datetime import UTC, datetime, timedelta

import pytest

from exporters.games_json import game_object
from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.model import AnomalyKind, Game, Proof, StartPrecision, TimeBasis
from recorder.reading import make_pipeline
from recorder.relating.game_view import View
from recorder.sources import SourceKind
from recorder.tracking.assemble import end_word
from tests.edge_cases.scripts import Table, log, only, read, sans
from tests.tracking.answers import RUNNING, movelist


def begun(*moves: str) -> tuple[Table, list[str]]:
    table = Table()
    return table, [table.observing(), table.frame(), *table.plays(*moves)]


def test_complete_from_the_first_ply_to_the_end_line() -> None:
    table, lines = begun("e4", "e5", "Nf3")
    assert only(read(log(*lines, table.over("Bob resigns", "1-0")))).complete
    assert not only(read(log(*lines))).complete


def test_a_conflict_makes_a_game_incomplete() -> None:
    """The boards of the takeback and of the next move were lost: both lines reach the same ply."""
    table, lines = begun("e4", "e5", "Nf3", "Nc6")
    table.undo(2)
    table.play("Bc4")
    lines += table.plays("Nc6", "Nf3")
    game = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert Proof.CONFLICT in [ply.proof for ply in game.plies]
    assert [ply.ply for ply in game.plies] == list(range(1, len(game.plies) + 1))
    assert not game.complete


def test_a_conflict_that_was_taken_back_does_not_count() -> None:
    table, lines = begun("e4", "e5", "Nf3", "Nc6")
    wrong = Table()
    wrong.plays("d4", "d5", "c4", "c6")
    lines += [wrong.play("Nc3"), table.frame(), table.play("Bb5")]
    game = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert (sans(game)[-1], game.result) == ("Bb5", "1-0")


def test_a_game_of_deltas_is_complete_unless_some_are_missing() -> None:
    for missing in (0, 1):
        table, lines = begun("e4", "e5")
        lines += table.deltas("Nf3", "Nc6", "Bb5")[missing:]
        assert only(read(log(*lines, table.over("Bob resigns", "1-0")))).complete is not bool(missing)


def test_an_unproved_ply_after_a_gap_makes_a_game_incomplete() -> None:
    table, lines = begun("e4", "e5")
    table.plays("Nf3", "Nc6", "Bb5")
    lines += [table.play("a6"), table.over("Bob resigns", "1-0")]
    game = only(read(log(*lines)))
    assert ([ply.ply for ply in game.plies], game.complete) == ([1, 2, 6], False)
    # The list proves the ply after the gap and fills it.
    listed = movelist("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", trailer="{Bob resigns} 1-0", number=None)
    game = only(read(log(*lines, *listed)))
    assert sans(game) == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"]
    assert game.plies[-1].proof == Proof.FULL
    assert game.complete


def test_a_lists_trailer_ends_a_game_whose_end_was_not_seen() -> None:
    _, lines = begun("e4", "e5")
    lines += ["Removing game 7 from observation list.", *movelist("e4", "e5", trailer="{Bob resigns} 1-0", number=None)]
    game = only(read(log(*lines)))
    assert (game.result, game.reason_key, game.end) == ("1-0", "resign", "result")


@pytest.mark.parametrize(
    ("key", "word"),
    [
        ("resign", "result"),
        ("adjourned-agreement", "adjourned"),
        ("aborted-early", "aborted"),
        ("partner-aborted", "aborted"),
        (None, "result"),
    ],
)
def test_words_of_ends(key: str | None, word: str) -> None:
    assert end_word(key) == word


def test_ten_seconds_a_side_print_as_no_minutes() -> None:
    for clock, base in ((10_000, (10, True)), (0, (0, False))):
        table = Table(base=0, increment=1, clocks=(clock, clock))
        game = only(read(log(table.frame(), *table.plays("e4", "e5"))))
        assert (game.base_s, game.base_inferred) == base


def test_keys_do_not_depend_on_lines_around_the_game() -> None:
    _, lines = begun("e4", "e5")
    alone = only(read(log(*lines)))
    others = read(log(*lines, *Table(8, "Carl", "Dora").plays("d4"))).games
    assert alone.key in {game.key for game in others}
    assert len({game.key for game in others}) == 2


MOVES = ("e4", "e5", "Nf3", "Nc6")
HEADER = datetime(2002, 11, 4, 8, 38, tzinfo=UTC)  # the date that ``movelist`` prints
OVER = "{White resigns} 0-1"


def read_game(lines: bytes, kind: SourceKind = SourceKind.RAW) -> tuple[Game, list[AnomalyKind]]:
    pipeline = make_pipeline(kind)
    (game,) = pipeline.receive(lines) + pipeline.finish()
    return game, [anomaly.kind for anomaly in pipeline.report.anomalies]


def stamped(data: bytes, at: datetime) -> bytes:
    """The lines as a client logs them, one second apart."""
    lines = data.replace(b"\r", b"").strip(b"\n").split(b"\n")
    return b"".join(
        f"[{at + timedelta(seconds=number):%Y-%m-%d %H:%M:%S} UTC] ".encode() + line + b"\n"
        for number, line in enumerate(lines)
    )


def joined() -> bytes:
    """Return a game observed from the board after two moves on, with its list."""
    table = Table()
    shown = table.plays(*MOVES[:2])[-1]
    return log(table.observing(), shown, *movelist(*MOVES[:2], trailer=RUNNING), *table.plays(*MOVES[2:]))


def test_a_header_contains_the_minute_and_no_second() -> None:
    game, _ = read_game(log(*movelist(*MOVES, trailer=OVER, number=None)))
    assert (game.started_at_ms, game.time_basis) == (1000 * int(HEADER.timestamp()), TimeBasis.UTC)
    assert game.start_precision is StartPrecision.MINUTE
    found = game_object(game)
    assert (found["started_at"], found["start_precision"]) == ("2002-11-04T08:38Z", "minute")
    assert game.latest_start_ms == (game.started_at_ms or 0) + 59_999
    for style in ("default", "fics"):
        text = PgnExporter(PgnOptions(style=style)).game_text(game)
        assert '[Date "2002.11.04"]' in text
        assert "Time " not in text.replace("TimeControl ", "")


@pytest.mark.parametrize(
    ("later", "from_header", "disagrees"),
    [
        (timedelta(minutes=3), True, False),
        (timedelta(hours=20), True, False),
        (timedelta(days=9), False, True),
        (timedelta(days=9000), False, True),
        (timedelta(days=-3), False, True),
    ],
)
def test_arrival_times_replace_an_impossible_server_date(later: timedelta, from_header: bool, disagrees: bool) -> None:
    at = HEADER + later
    game, anomalies = read_game(stamped(joined(), at), SourceKind.STAMPED)
    began = datetime.fromtimestamp((game.started_at_ms or 0) / 1000, UTC)
    assert anomalies.count(AnomalyKind.CLOCK_DISAGREES) == disagrees
    if from_header:
        assert (began, game.start_precision) == (HEADER, StartPrecision.MINUTE)
    else:
        assert at <= began <= at + timedelta(seconds=5)
        assert game.start_precision is StartPrecision.MILLISECOND
        assert game.day == at.date()


WILD = "--q-rnrb kpp-p-p- pnb----- ---p---p ---N-P-- ---P--p- PPPRPN-P K-Q-B-RB"


@pytest.mark.parametrize("continues", [False, True])
@pytest.mark.parametrize("listed", [False, True])
def test_a_resumed_game_is_old_only_if_a_list_shows_its_first_part(continues: bool, listed: bool) -> None:
    """A list of a shuffled game without its start board shows no position."""
    category = "blitz" if listed else "wild"
    table = Table()
    shown = (
        table.plays(*MOVES[:2])[-1] if listed else table.frame(board=WILD, move_no=12, verbose="P/g4-g3", pretty="g3")
    )
    resumed = [f"{{Game 7 (Ann vs. Bob) Continuing rated {category} match.}}"] if continues else []
    lines = [line.replace("Rated blitz", f"Rated {category}") for line in movelist(*MOVES[:2], trailer=RUNNING)]
    at = HEADER + timedelta(days=9000)
    game, anomalies = read_game(stamped(log(*resumed, table.observing(), shown, *lines), at), SourceKind.STAMPED)
    old = continues and listed
    assert game.day == (HEADER if old else at).date()
    assert (AnomalyKind.CLOCK_DISAGREES in anomalies) is not old


def test_the_users_date_replaces_an_impossible_server_date() -> None:
    """A running game cannot have begun long before the day of its log; a stored one may, and a log may be long."""
    for days, day in ((9000, None), (0, HEADER.date()), (-30, HEADER.date())):
        date = HEADER.date() + timedelta(days=days)
        for data in (joined(), log(*movelist(*MOVES, trailer=RUNNING))):
            pipeline = make_pipeline(SourceKind.RAW, date=date)
            (game,) = [*pipeline.receive(data), *pipeline.finish()]
            assert game.day == (day or date)
    pipeline = make_pipeline(SourceKind.RAW, date=HEADER.date() + timedelta(days=9000))
    (game,) = [*pipeline.receive(log(*movelist(*MOVES, trailer=OVER, number=None))), *pipeline.finish()]
    assert game.day == HEADER.date()


def test_a_stored_game_may_be_old() -> None:
    data = stamped(log(*movelist(*MOVES, trailer=OVER, number=None)), HEADER + timedelta(days=4000))
    game, anomalies = read_game(data, SourceKind.STAMPED)
    assert anomalies == []
    assert game.start_precision is StartPrecision.MINUTE


def test_comparing_takes_the_whole_minute() -> None:
    text = b'[Event "?"]\n[White "Ann"]\n[Black "Bob"]\n[UTCDate "2002.11.04"]\n[UTCTime "08:38:00"]\n\n1. e4 e5 *\n'
    game, _ = read_game(text, SourceKind.PGN)
    began = game.started_at_ms or 0
    assert View(game).begun_ms == (began, began)
    game.start_precision = StartPrecision.MINUTE
    assert View(game).begun_ms == (began, began + 59_999)
