"""Movetext with words that no rule can play: each move keeps its side, its number, its clock and its marks."""

import pytest

from recorder.model import Anomaly, EventKind, Game, Proof
from recorder.reading import make_pipeline
from recorder.sources import SourceKind


def read(text: str) -> tuple[Game, list[Anomaly]]:
    pipeline = make_pipeline(SourceKind.PGN)
    data = f'[Event "x"]\n[White "Ann"]\n[Black "Bob"]\n\n{text}\n'.encode()
    (game,) = pipeline.receive(data) + pipeline.finish()
    return game, pipeline.report.anomalies


def plies(game: Game) -> list[tuple[int, str, bool]]:
    return [(ply.ply, ply.san, ply.proof is not Proof.UNPROVED) for ply in game.plies]


def marks(game: Game) -> list[tuple[str, int, str]]:
    return [(event.detail, event.ply, event.text) for event in game.events if event.kind is EventKind.CHAT]


@pytest.mark.parametrize("gap", ["", "\u2026 ", "{lost} "])
def test_blacks_first_move_is_missing(gap: str) -> None:
    game, anomalies = read(f"1. e4 {{[%clk 0:01:00]}} {gap}2. Nf3 {{[%clk 0:00:59]}} Nc6 3. Bb5 *")
    assert plies(game) == [(1, "e4", True), (3, "Nf3", False), (4, "Nc6", False), (5, "Bb5", False)]
    assert [ply.white_clock_ms for ply in game.plies] == [60_000, 59_000, None, None]
    assert [one.message for one in anomalies] == ["1... is missing"]
    assert not game.complete


def test_a_number_may_stand_before_each_half_move() -> None:
    game, anomalies = read("1. e4 2. e5 3. Nf3 4. Nc6 *")
    assert [san for _, san, _ in plies(game)] == ["e4", "e5", "Nf3", "Nc6"]
    assert anomalies == []


@pytest.mark.parametrize(
    "word",
    [
        "Nf3/E", "?x?", "?x", "F@g3", "Nf3xx", "Sg1f3", "Сf3", "N-KB3", "PxP", "___", "—", "??", "?", "illegible",
        "N?c6", "exd?5", "e?4", "R1!?e1",
        "e9", "i4", "Ng1-", "<Nf3>", '"Nf3"', "Nf3&amp", "%Nf3", "O-O-O-O", "Qh5/Qf3", "N@f3", "#f3", "馬f3",
    ],
)  # fmt: skip
@pytest.mark.parametrize("numbers", [True, False])
def test_an_unreadable_word_is_a_ply_of_its_side(word: str, numbers: bool) -> None:
    tail = "{[%clk 0:01:07]} $2 {so}"
    white = f"1. d4 e6 2. {word} {tail} d5 3. c4 $1 c6 {{[%clk 0:01:06]}} 0-1"
    black = f"1. d4 e6 2. c4 {word} {tail} 3. Nf3 $1 c6 {{[%clk 0:01:06]}} 0-1"
    if not numbers:
        if word in ("—", "??", "?", "illegible", '"Nf3"'):
            return  # without numbers nothing says that it is a move
        white, black = (text.replace("1.", "").replace("2.", "").replace("3.", "") for text in (white, black))
    for text, at in ((white, 3), (black, 4)):
        if at == 4 and word.strip("?") == "":
            continue  # a mark of the move before
        game, anomalies = read(text)
        sans = [(1, "d4", True), (2, "e6", True), (3, "c4", True)] if at == 4 else [(1, "d4", True), (2, "e6", True)]
        rest = [(5, "Nf3", False)] if at == 4 else [(4, "d5", False), (5, "c4", False)]
        assert plies(game) == [*sans, (at, word, False), *rest, (6, "c6", False)]
        assert [ply.clock_ms for ply in game.plies] == [
            67_000 if n == at else 66_000 if n == 6 else None for n in range(1, 7)
        ]
        assert marks(game) == [("nag", at, "$2"), ("comment", at, "so"), ("nag", 5, "$1")]
        assert (game.result, game.complete) == ("0-1", False)
        assert any(word in found.message for found in anomalies)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O–O Nf6 5. d3 0–0 *", "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6 d3 O-O"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0−0 Nf6 5. d3 О-О *", "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6 d3 O-O"),
        ("1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5. 0—0—0 000 *", "d4 d5 Nc3 Nc6 Bf4 Bf5 Qd2 Qd7 O-O-O O-O-O"),
        ("1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5. ooo O‑O‑O+ *", "d4 d5 Nc3 Nc6 Bf4 Bf5 Qd2 Qd7 O-O-O O-O-O"),
        ("1. e4 d5 2. e4×d5 Q×d5 3. N×c3 Qd8ch *", "e4 d5 exd5 Qxd5 Nc3 Qd8"),
        ("1. e4, e5, 2. Nf3. Nc6 3. Bb5 a6 *", "e4 e5 Nf3 Nc6 Bb5 a6"),
        ("1. e4 1…e5 2.\xa0Nf3 … Nc6 *", "e4 e5 Nf3 Nc6"),
        ("1. e2–e4 e7—e5 2. Ng1–f3 *", "e4 e5 Nf3"),
        ("1. d4 e5 2. d5 c5 3. dxc6e.p. dxc6 *", "d4 e5 d5 c5 dxc6 dxc6"),
        ("1. a4 b5 2. axb5 a6 3. bxa6 c6 4. a7 c5 5. axb8/Q *", "a4 b5 axb5 a6 bxa6 c6 a7 c5 axb8=Q"),
        ("1. a4 b5 2. axb5 a6 3. bxa6 c6 4. a7 c5 5. axb8(N) *", "a4 b5 axb5 a6 bxa6 c6 a7 c5 axb8=N"),
        ("1. e4 foo bar e5 2. Nf3 *", "e4 e5 Nf3"),
        ("1. e4 e5 2. Nf3 Nc6 White resigns 1-0", "e4 e5 Nf3 Nc6"),
        ("1. e4 1. e5 2. Nf3 2. Nc6 *", "e4 e5 Nf3 Nc6"),
        ("1. e4 2. e5 3. Nf3 4. Nc6 5. Bb5 *", "e4 e5 Nf3 Nc6 Bb5"),
        ("12. e4 e5 13. Nf3 Nc6 *", "e4 e5 Nf3 Nc6"),
        ("1. e4 e5 2. Nf3 Nc6 2. Bb5 a6 7. Ba4 *", "e4 e5 Nf3 Nc6 Bb5 a6 Ba4"),
    ],
)
def test_other_spellings_of_moves_are_played(text: str, wanted: str) -> None:
    game, _ = read(text)
    assert [(san, proved) for _, san, proved in plies(game)] == [(san, True) for san in wanted.split()]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1. e4 e5 2. ?x? 3. Bb5 a6 *", [(3, "?x?"), (5, "Bb5"), (6, "a6")]),
        ("12. e4 e5 13. ?x? Nc6 14. Bb5 *", [(3, "?x?"), (4, "Nc6"), (5, "Bb5")]),
        ("1. e4 1. e5 2. ?x? 2. Nc6 3. Bb5 *", [(3, "?x?"), (4, "Nc6"), (5, "Bb5")]),
        ("1. e4 e5 2. Nf3 3. Bb5 a6 *", [(5, "Bb5"), (6, "a6")]),
        ("1. e4 e5 2... Nc6 3. Bb5 *", [(4, "Nc6"), (5, "Bb5")]),
        ("1. e4 e5 2. ?x? {words 9. or so} (2. Nf3 Nc6 9. h4) 2... Nc6 *", [(3, "?x?"), (4, "Nc6")]),
    ],
)  # fmt: skip
def test_move_numbers_say_where_moves_are_missing(text: str, wanted: list[tuple[int, str]]) -> None:
    game, anomalies = read(text)
    assert [(ply, san) for ply, san, proved in plies(game) if not proved] == wanted
    assert [san for _, san, proved in plies(game) if proved] in (["e4", "e5"], ["e4", "e5", "Nf3"])
    assert anomalies


def test_a_variation_may_replace_an_unreadable_word_and_have_one() -> None:
    game, _ = read("1. e4 e5 2. ?x? (2. Nf3 Nc6 3. Bb5) 2... Nc6 (2... d6 3. d4) 3. a3 *")
    lines = [[(ply.san, ply.move is not None) for ply in line.plies] for line in game.observations[0].lines[1:]]
    assert lines == [[("Nf3", True), ("Nc6", True), ("Bb5", True)], [("d6", False), ("d4", False)]]
    game, _ = read("1. e4 e5 (1... c5 2. ?x? d6 {y}) 2. Nf3 *")
    assert [proved for _, _, proved in plies(game)] == [True] * 3
    assert [(ply.ply, ply.san) for ply in game.observations[0].lines[1].plies] == [(2, "c5"), (3, "?x?"), (4, "d6")]


def test_glued_marks_are_marks() -> None:
    game, _ = read("1. e4± e5∓ 2. Nf3N Nc6ch 3. Bb5+− a6+= 4. Ba4 ± *")
    assert all(proved for _, _, proved in plies(game))
    assert [(ply, text) for _, ply, text in marks(game)] == [
        (1, "$16"), (2, "$17"), (3, "$146"), (5, "$18"), (6, "$14"), (7, "$16")
    ]  # fmt: skip
