"""Holdings computed from captures, drops and promotions equal every ``<b1>`` of the crazyhouse transcripts."""

import re

import pytest

from recorder.model import AnomalyKind
from recorder.rules.fen import start_position
from recorder.rules.position import Position, Rules
from recorder.rules.prove import advance
from tests.support.corpus import stream_bytes, streams
from tests.support.product import run

_TAG = re.compile(r"(?:[^<\r\n]*% )*\x07?<(12|b1)> (.*)")
_HANDS = re.compile(r"game (\d+) \S+ \[(\w*)\] \S+ \[(\w*)\](?: *<- *(\w+))?")
_RIGHTS = slice(10, 14)


def check(text: str) -> tuple[int, int, int, int]:
    """Count compared lines and promotions.

    Counted separately: lines of games joined in progress, and captured promoted pieces, which are held as pawns.
    """
    compared = left = promotions = fallen = 0
    games: dict[str, tuple[int, Position]] = {}
    for line in re.split(r"[\r\n]+", text):
        match = _TAG.match(line)
        if match is None:
            continue
        tokens = match[2].split()
        if match[1] == "12":
            board, number, verbose, pretty = " ".join(tokens[:8]), tokens[15], tokens[26], tokens[28]
            if tokens[18] not in ("0", "1", "-1"):
                continue
            ply = 2 * (int(tokens[25]) - 1) + (tokens[8] == "B")
            known = games.get(number)
            if verbose == "none":
                rights = sum(int(flag) << bit for bit, flag in enumerate(tokens[_RIGHTS]))
                games[number] = ply, start_position(board, True, rights, -1, Rules.CRAZYHOUSE, ("", ""))
            elif known is not None and known[0] == ply - 1:
                before = known[1]
                step = advance(before, verbose, pretty, board)
                assert not isinstance(step, str), (line, step)
                promotions += "=" in verbose or "=" in pretty
                target = re.search(r"-([a-h])([1-8])", verbose)
                if target is not None and 9 * (8 - int(target[2])) + "abcdefgh".index(target[1]) in before.promoted:
                    fallen += "x" in pretty
                games[number] = ply, step[2]
            elif known is not None and known[0] != ply:
                del games[number]  # taken back or joined in progress
            continue
        hands = _HANDS.match(match[2])
        assert hands is not None, line
        number, white, black, passed = hands.groups()
        if number not in games or passed is not None:
            left += passed is None
        else:
            reckoned = games[number][1].holdings
            assert reckoned is not None
            assert [sorted(hand) for hand in reckoned] == [sorted(white.upper()), sorted(black.upper())], line
            compared += 1
    return compared, left, promotions, fallen


@pytest.mark.parametrize(
    ("scenario", "expected"), [("a03_crazyhouse", (1518, 466, 45, 42)), ("b09_crazyhouse", (939, 283, 39, 33))]
)
def test_all_printed_holdings_follow_from_the_moves(scenario: str, expected: tuple[int, ...]) -> None:
    sums = [check(stream_bytes(scenario, stream.connection).decode("latin-1")) for stream in streams(scenario)]
    assert tuple(map(sum, zip(*sums, strict=True))) == expected


@pytest.mark.parametrize("scenario", ["a03_crazyhouse", "b09_crazyhouse"])
def test_no_holdings_contradict_games_joined_in_progress(scenario: str) -> None:
    joined = 0
    for stream in streams(scenario):
        games, report = run([stream_bytes(scenario, stream.connection)], stream.kind)
        assert [anomaly for anomaly in report.anomalies if anomaly.kind is AnomalyKind.HOLDINGS] == []
        joined += sum(game.start_ply > 0 and "[" in str(game.start_fen) for game in games)
    assert joined > 0
