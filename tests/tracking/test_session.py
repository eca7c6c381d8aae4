"""One log with several sessions: every game keeps its own server, dialect and handle."""

import pytest

from recorder.dialects.session import Family, detect_dialect
from recorder.dialects.style12 import parse_style12
from recorder.events.frames import Style12
from recorder.model import Game
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from recorder.tracking.session import ServerSession
from tests.edge_cases.scripts import Table, log, read

FICS = "****** Welcome to the Free Internet Chess Server at freechess.org ******"
ICC = "Welcome to the Internet Chess Club"


def played(number: int = 7, white: str = "Ann", black: str = "Bob") -> list[str]:
    table = Table(number, white, black)
    return [
        table.header(),
        table.observing(),
        table.frame(),
        *table.plays("e4", "e5"),
        table.over("Bob resigns", "1-0"),
    ]


def by_white(games: list[Game]) -> dict[str, tuple[str | None, str | None, str | None]]:
    return {game.white.handle: (game.server, game.dialect, game.me) for game in games}


def test_two_servers() -> None:
    found = read(log(FICS, *played(), ICC, *played(8, "Carl", "Dora")))
    first, second = (by_white(found.games)[name] for name in ("Ann", "Carl"))
    assert first[:2] == ("FICS freechess.org", "FICS")
    assert second[:2] == ("Internet Chess Club", "ICC")


def test_two_logins() -> None:
    login = "**** Starting FICS session as {} ****"
    found = read(log(login.format("Eve"), *played(), login.format("Zed"), *played(8, "Carl", "Dora")))
    assert {white: facts[2] for white, facts in by_white(found.games).items()} == {"Ann": "Eve", "Carl": "Zed"}


def test_a_second_login_with_the_same_handle_continues_the_session() -> None:
    login = "**** Starting FICS session as Eve ****"
    table = Table()
    lines = [FICS, login, table.observing(), table.frame(), *table.plays("e4"), login, *table.plays("e5")]
    assert by_white(read(log(*lines)).games) == {"Ann": ("FICS freechess.org", "FICS", "Eve")}


@pytest.mark.parametrize("size", [1, 100, 512, 4096])
def test_a_late_banner_in_pieces(size: int) -> None:
    """Facts of earlier games do not depend on the chunks of the log."""
    data = log(*played(), *played(8, "Carl", "Dora"), FICS, *played(9, "Ed", "Fay"))
    whole = read(data).games
    pipeline = Pipeline(SourceKind.RAW)
    games = [game for at in range(0, len(data), size) for game in pipeline.receive(data[at : at + size])]
    games += pipeline.finish()
    assert by_white(games) == by_white(whole)
    assert [game.key for game in games] == [game.key for game in whole]
    assert by_white(games)["Ed"][1] == "FICS"


def test_a_prompt_applies_only_after_its_place() -> None:
    session = ServerSession(None)
    session.prompts.append(("aics% ", 100))
    assert session.facts(100, 1).dialect is None
    reported = detect_dialect(None, "aics% ", None)
    assert reported is not None
    assert session.facts(101, 1).dialect == reported.name


def test_the_users_site_is_not_replaced() -> None:
    assert ServerSession("chess.example", Family.FICS.value).facts(1, 1).server == "chess.example"


def test_only_a_complete_frame_sets_the_number_of_fields() -> None:
    text = Table().frame()
    session = ServerSession(None)
    for tokens, expected in ((19, None), (24, 33), (22, 33)):
        got = parse_style12(" ".join(text.split(" ")[: 9 + tokens]))
        assert isinstance(got, Style12)
        session.look(got)
        assert session.tokens == expected
    assert session.tokens == 33
