"""``{Game …} result`` lines, both ways."""

import pytest

from recorder.dialects.results import format_result, parse_results, read_reason
from recorder.events import Line

TABLE = [
    ("A checkmated", "0-1", "checkmate", "normal", "A"),
    ("B checkmated", "1-0", "checkmate", "normal", "B"),
    ("A and B checkmated", "1-0", "checkmate-both", "normal", "A"),
    ("A resigns", "0-1", "resign", "normal", "A"),
    ("A forfeits on time", "0-1", "time", "time forfeit", "A"),
    ("A forfeits by disconnection", "0-1", "disconnect-loss", "abandoned", "A"),
    ("A wins by adjudication", "1-0", "adjudicated", "adjudication", "A"),
    ("B wins by losing all material", "0-1", "suicide-all", "normal", "B"),
    ("A wins by having less material (stalemate)", "1-0", "suicide-fewer", "normal", "A"),
    ("A wins by having less material", "1-0", "suicide-fewer", "normal", "A"),
    ("A wins by stalemate", "1-0", "losers-stalemate", "normal", "A"),
    ("A's king exploded", "0-1", "king-exploded", "normal", "A"),
    ("A's partner won", "1-0", "partner-won", "normal", "A"),
    ("A bared", "0-1", "bare-king", "normal", "A"),
    ("A perpetually checking", "0-1", "perpetual", "normal", "A"),
    ("Game drawn by stalemate", "1/2-1/2", "stalemate", "normal", None),
    ("Game drawn by stalemate (equal material)", "1/2-1/2", "stalemate", "normal", None),
    ("Game drawn by stalemate (opposite color bishops)", "1/2-1/2", "stalemate", "normal", None),
    ("Game drawn by mutual agreement", "1/2-1/2", "agreed", "normal", None),
    ("Game drawn by agreement", "1/2-1/2", "agreed", "normal", None),
    ("Game drawn by repetition", "1/2-1/2", "repetition", "normal", None),
    ("Game drawn by the 50 move rule", "1/2-1/2", "fifty", "normal", None),
    ("Neither player has mating material", "1/2-1/2", "no-material", "normal", None),
    ("B ran out of time and A has no material to mate", "1/2-1/2", "time-vs-bare", "normal", "B"),
    ("A ran out of time and B lacks mating material", "1/2-1/2", "time-vs-bare", "normal", "A"),
    ("Game drawn because both players ran out of time", "1/2-1/2", "both-flag", "normal", None),
    ("Both players ran out of time", "1/2-1/2", "both-flag", "normal", None),
    ("Game drawn by adjudication", "1/2-1/2", "adjudicated-draw", "adjudication", None),
    ("Game drawn due to length", "1/2-1/2", "max-length", "normal", None),
    ("Game was drawn", "1/2-1/2", "drawn", "normal", None),
    ("is a draw", "1/2-1/2", "drawn", "normal", None),
    ("Game drawn by mate on both boards", "1/2-1/2", "partner-draw", "normal", None),
    ("Partners' game drawn", "1/2-1/2", "partner-draw", "normal", None),
    ("Game adjourned by mutual agreement", "*", "adjourned-agreed", "unterminated", None),
    ("Game adjourned by agreement", "*", "adjourned-agreed", "unterminated", None),
    ("A lost connection; game adjourned", "*", "adjourned-lost", "unterminated", "A"),
    ("adjourned", "*", "adjourned-lost", "unterminated", None),
    ("Game courtesyadjourned by B", "*", "adjourned-courtesy", "unterminated", "B"),
    ("Game adjourned by server shutdown", "*", "adjourned-server", "unterminated", None),
    ("Game adjourned by simul holder", "*", "adjourned-simul", "unterminated", None),
    ("Game adjourned by adjudication", "*", "adjourned-adjudicated", "unterminated", None),
    ("Partners' game adjourned", "*", "partner-adjourned", "unterminated", None),
    ("Game aborted by mutual agreement", "*", "aborted-agreed", "abandoned", None),
    ("Game aborted by agreement", "*", "aborted-agreed", "abandoned", None),
    ("Game aborted on move 1", "*", "aborted-early", "abandoned", None),
    ("Game aborted on move 1 by A", "*", "aborted-early", "abandoned", "A"),
    ("A lost connection and too few moves; game aborted", "*", "aborted-lost", "abandoned", "A"),
    ("A lost connection; game aborted", "*", "aborted-lost", "abandoned", "A"),
    ("A aborts by disconnection", "*", "aborted-lost", "abandoned", "A"),
    ("aborted", "*", "aborted-lost", "abandoned", None),
    ("Game courtesyaborted by A", "*", "aborted-courtesy", "abandoned", "A"),
    ("Bughouse game aborted.", "*", "aborted-bug", "abandoned", None),
    ("Bughouse game courtesyaborted by A.", "*", "aborted-bug", "abandoned", "A"),
    ("Partner's game aborted", "*", "partner-aborted", "abandoned", None),
    ("Partners' game aborted", "*", "partner-aborted", "abandoned", None),
    ("Game aborted by server shutdown", "*", "aborted-server", "abandoned", None),
    ("Game aborted by simul holder", "*", "aborted-simul", "abandoned", None),
    ("Game aborted by adjudication", "*", "aborted-adjudicated", "abandoned", None),
    ("Hmm, the game ended and I don't know why", "*", "unknown", "unterminated", None),
    ("A sofreu mate", "0-1", "unknown", "normal", None),
    ("White resigns", "0-1", "resign", "normal", "A"),
    ("Black checkmated", "1-0", "checkmate", "normal", "B"),
]


@pytest.mark.parametrize(("words", "result", "key", "termination", "actor"), TABLE)
def test_every_reason_both_ways(words: str, result: str, key: str, termination: str, actor: str | None) -> None:
    text = f"{{Game 12 (A vs. B) {words}}} {result}"
    (got,) = parse_results(Line(text, 7))
    assert (got.game_no, got.white, got.black, got.reason, got.result) == (12, "A", "B", words, result)
    assert (got.reason_key, got.termination, got.actor) == (key, termination, actor)
    assert format_result(got) == text


@pytest.mark.parametrize("name", ["sometimes", "resigns", "Game", "checkmated", "White", "aborted", "mate-time"])
def test_names_are_no_reasons(name: str) -> None:
    (got,) = parse_results(Line(f"{{Game 1 ({name} vs. B) B resigns}} 1-0", 0))
    assert (got.reason_key, got.actor) == ("resign", "B")
    (got,) = parse_results(Line(f"{{Game 1 ({name} vs. B) {name} resigns}} 0-1", 0))
    assert (got.reason_key, got.actor) == ("resign", name)


def test_a_name_that_begins_with_the_other_ones_name() -> None:
    (got,) = parse_results(Line("{Game 1 (Bob vs. Bobby) Bobby forfeits on time} 1-0", 0))
    assert (got.reason_key, got.actor) == ("time", "Bobby")


def test_two_results_that_lost_their_line_end() -> None:
    text = (
        "{Game 70 (EdwardBloom vs. danguy) EdwardBloom lost connection; game adjourned} *"
        "{Game 23 (Sordid vs. tone) tone wins by losing all material} 0-1"
    )
    first, second = parse_results(Line(text, 100))
    assert (first.game_no, first.reason_key, first.line.offset) == (70, "adjourned-lost", 100)
    assert (second.game_no, second.reason_key, second.line.offset) == (23, "suicide-all", 100 + text.index("{Game 23"))


@pytest.mark.parametrize(
    "text",
    [
        "{Game 12 (A vs. B) Creating rated blitz match.}",
        "{Game 12 (A vs. B) A resigns} 0-1 and more words",
        "{Game 12 (A vs. B) A resigns} 2-0",
        "X kibitzes: {Game 12 (A vs. B) A resigns} 0-1",
        "{White resigns} 0-1",
    ],
)
def test_other_lines_are_no_results(text: str) -> None:
    assert parse_results(Line(text, 0)) == []


def test_the_token_has_the_last_word() -> None:
    assert read_reason("A checkmated", "A", "B", "*").termination == "unterminated"
