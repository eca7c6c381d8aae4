"""chessd in Portuguese. Its messages are known from its translation, not from a transcript."""

import pytest

from recorder.dialects.results import read_reason
from recorder.events import (
    CreatingLine,
    GameCreated,
    GameEnded,
    GameNotice,
    GameNoticeKind,
    GamesCounted,
    MovelistRead,
    ObserveRefused,
    ObservingStarted,
    Refusal,
)
from tests.dialects.lines import recognise


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize(
    ("words", "key", "termination", "actor"),
    [
        ("Jogo adiado por acordo mútuo", "adjourned-agreed", "unterminated", None),
        ("Ann perdeu a conexão; jogo adiado", "adjourned-lost", "unterminated", "Ann"),
        ("As Pretas perderam a conexão, jogo adiado", "adjourned-lost", "unterminated", "Bob"),
        ("Jogo courtesyadiado por Bob", "adjourned-courtesy", "unterminated", "Bob"),
        ("Jogo abortado por acordo mútuo", "aborted-agreed", "abandoned", None),
        ("abortado", "aborted-lost", "abandoned", None),
        ("Jogo abortado por adjudicação", "aborted-adjudicated", "abandoned", None),
        ("Jogo bughouse courtesyabortado por Ann.", "aborted-bug", "abandoned", "Ann"),
        ("Jogo bughouse abortado.", "aborted-bug", "abandoned", None),
        ("Nada disto", "unknown", "unterminated", None),
    ],
)
def test_what_a_star_means(words: str, key: str, termination: str, actor: str | None, encoding: str) -> None:
    printed = words.encode(encoding).decode("latin-1")
    assert read_reason(printed, "Ann", "Bob", "*") == (key, termination, actor)


def test_a_token_needs_no_words() -> None:
    (won,) = recognise("{Game 3 (Ann vs. Bob) Bob perdeu por tempo} 1-0")
    assert isinstance(won, GameEnded)
    assert (won.result, won.reason, won.reason_key) == ("1-0", "Bob perdeu por tempo", "unknown")


@pytest.mark.parametrize("no", ["não-classificada", "não-classificada".encode().decode("latin-1")])
def test_how_a_game_begins(no: str) -> None:
    created, continued, creating, observing = recognise(
        f"{{Game 3 (Ann vs. Bob) Creating {no} blitz match.}}",
        "{Game 3 (Ann vs. Bob) Continuando classificada standard match.}",
        f"Creating: Ann (1500) Bob (----) {no} blitz 5 0",
        "Você agora está observando jogo 3.".encode().decode("latin-1"),
    )
    assert isinstance(created, GameCreated)
    assert (created.rated, created.category, created.continued) == (False, "blitz", False)
    assert isinstance(continued, GameCreated)
    assert (continued.rated, continued.category, continued.continued) == (True, "standard", True)
    assert isinstance(creating, CreatingLine)
    assert (creating.rated, creating.category) == (False, "blitz")
    assert isinstance(observing, ObservingStarted)
    assert observing.game_no == 3


def test_a_movelist() -> None:
    found = recognise(
        "Ann (1500) vs. Bob (UNR) --- 2004.05.06 21:02:03",
        "Classificado Blitz match, initial time: 5 minutos, incremento: 2 segundos.",
        "Move  Ann                Bob",
        "----  ----------------   ----------------",
        "  1.  e4      (0:00)     e5      (0:01)",
        "      {Ainda em progresso} *",
    )
    (seen,) = (event for event in found if isinstance(event, MovelistRead))
    assert (seen.rated, seen.category, seen.base_min, seen.increment_s) == (True, "blitz", 5, 2)
    assert (seen.still_running, seen.complete, [row.san for row in seen.rows]) == (True, True, ["e4", "e5"])


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize(
    ("text", "reason", "game_no"),
    [
        ("Você já está observando o número máximo permitido de jogos.", Refusal.LIMIT, None),
        ("Você não está observando o jogo 3.", Refusal.NOT_OBSERVING, 3),
        ("Não há tal jogo.", Refusal.NO_SUCH_GAME, None),
        ("Você não pode observar um jogo que você está jogando.", Refusal.OWN_GAME, None),
    ],
)
def test_refusals(text: str, reason: Refusal, game_no: int | None, encoding: str) -> None:
    (refused,) = recognise(text.encode(encoding).decode("latin-1"))
    assert isinstance(refused, ObserveRefused)
    assert (refused.reason, refused.game_no) == (reason, game_no)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_table_without_rows_and_a_private_game(encoding: str) -> None:
    texts = (
        "Não há jogos em progresso.",
        "Nenhum jogo foi encontrado (de 12 em progresso).",
        "Sinto muito, jogo 3 é um jogo privado.",
    )
    empty, none, private = recognise(*(text.encode(encoding).decode("latin-1") for text in texts))
    assert isinstance(empty, GamesCounted)
    assert (empty.displayed, empty.total) == (0, None)
    assert isinstance(none, GamesCounted)
    assert (none.displayed, none.total) == (0, 12)
    assert isinstance(private, GameNotice)
    assert (private.kind, private.game_no) == (GameNoticeKind.PRIVATE_GAME, 3)
