"""What clients of the replay server read of games that do not have all that the servers' lines need."""

import asyncio
import re
from pathlib import Path

import pytest

from recorder import read_games
from recorder.dialects.movelist import parse_started
from recorder.model import Game
from recorder.replay.server.commands import answer_command
from recorder.replay.server.login import Greeting
from recorder.replay.server.session import ReplaySession
from recorder.replay.server.sockets import ReplayClients, ReplayServer, _Link
from tests.replay.clients import Client, open_show
from tests.support.live import in_loop
from tests.support.product import run

# The lines that PyChess 1.0.3 reads; it disconnects where a move list has another form.
DATE = (
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) +(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +"
    r"\d+, +\d+:\d\d +[A-Z?]+ +\d{4}"
)
RATING = r"\( *(?:[0-9 +-]{1,4}[P E]?|UNR)\)"
LIST_HEAD = (
    rf"\w+ {RATING} vs\. \w+ {RATING} --- ({DATE})\n"
    r"(?:Rated|Unrated) [^ ]+ match, initial time: \d+ minutes, increment: \d+ seconds\.\n"
)
LIST_ROW = r" *\d+\. +[a-hx@OPKQRBN1-8+#=-]{2,7} +\(\d{1,2}:\d\d\) *(?:[a-hx@OPKQRBN1-8+#=-]{2,7} +\(\d{1,2}:\d\d\))?"
STORED_END = r" *\{.*(?:Game drawn|White|Black).*\} (?:1-0|0-1|1/2-1/2)"
HEADER = rf"Game \d+: \w+ {RATING} \w+ {RATING} (?:rated|unrated) [\w/]+ \d+ \d+"
TABLE = r" *\d+ +[\d+-]{4} \w+ +[\d+-]{4} \w+ +\[ [bslwBzSLx]u *\d+ +\d+\] +\d+:\d\d - +\d+:\d\d \(39-39\) W: +1"


def saved(folder: Path, *tags: str, moves: str = "1. e4 e5 2. Nf3 1/2-1/2") -> list[Game]:
    path = folder / "x.pgn"
    path.write_text("\n".join(f"[{tag}]" for tag in tags) + f"\n\n{moves}\n", "utf-8")
    return list(read_games(path))


@pytest.mark.parametrize(
    ("tags", "date", "missing"),
    [
        (['Date "2005.09.14"'], "Wed Sep 14, 00:00 ??? 2005", "the time of day, the kind"),
        (['Date "1886.??.??"'], "Thu Jan  1, 00:00 ??? 1970", "the date and the time of day, the kind"),
        ([], "Thu Jan  1, 00:00 ??? 1970", "the date and the time of day, the kind"),
        (['Date "2005.09.14"', 'Time "18:30:00"'], "Wed Sep 14, 18:30 ??? 2005", "the kind"),
        (['UTCDate "2005.09.04"', 'UTCTime "08:03:00"'], "Sun Sep  4, 08:03 UTC 2005", "the kind"),
    ],
)
def test_clients_read_the_lines_of_any_saved_game(tmp_path: Path, tags: list[str], date: str, missing: str) -> None:
    games = saved(tmp_path, 'White "Zukertort, Johannes H."', 'Black "Fairy-Max 4.8"', *tags)
    client = Client.of(games)
    client.say("set style 12")
    assert re.search(rf"^{TABLE}\n\n +1 games displayed", client.say("games"), re.M)
    begun = client.say("observe zukertortjo")
    assert re.search(rf"observing game 1\.\n{HEADER}\n\n<12> .*\nNot recorded: {missing}", begun)
    assert "ZukertortJohannes is Zukertort, Johannes H., FairyMax is Fairy-Max 4.8." in begun.replace("\n\\  ", "")
    client.wait()
    listed = client.say("smoves FairyMax")
    head = re.search(LIST_HEAD, listed)
    assert head[1] == date
    *rows, end = listed[listed.index("----  ") :].splitlines()[1:4]
    assert [row for row in rows if not re.fullmatch(LIST_ROW, row)] == []
    assert re.fullmatch(STORED_END, end)


@pytest.mark.parametrize(
    ("white", "black", "printed"),
    [
        ("?", "?", ("White", "Black")),
        ("Stockfish 16", "Stockfish 17", ("StockfishWhite", "StockfishBlack")),
        ("Ångström, Örjan", "Weißbach", ("AngstromOrjan", "Weissbach")),
        ("Каспаров", "user_1", ("White", "user")),
    ],
)
def test_handles_are_words_of_letters(tmp_path: Path, white: str, black: str, printed: tuple[str, str]) -> None:
    client = Client.of(saved(tmp_path, f'White "{white}"', f'Black "{black}"'))
    client.say("set style 12", "observe 1")
    assert f"{{Game 1 ({printed[0]} vs. {printed[1]}) Game was drawn}} 1/2-1/2" in client.wait()


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        (['TimeControl "120+1"'], "lightning"),
        (['TimeControl "180+0"'], "blitz"),
        (['TimeControl "900+0"'], "standard"),
        (['TimeControl "-"'], "untimed"),
        (['Event "rated rapid game"', 'TimeControl "600+0"'], "blitz"),
        (['Event "rated wild/5 game"'], "wild/5"),
        (['Variant "Crazyhouse"'], "crazyhouse"),
        (['Variant "Horde"'], None),
    ],
)
def test_the_kind_is_one_that_clients_know(tmp_path: Path, tags: list[str], kind: str | None) -> None:
    client = Client.of(saved(tmp_path, 'White "Ann"', 'Black "Bob"', *tags, moves="*"))
    found = re.search(
        r"^Game 1: Ann \(----\) Bob \(----\) (?:rated|unrated) (\S+) \d+ \d+$", client.say("observe 1"), re.M
    )
    assert (None if found is None else found[1]) == kind


@pytest.mark.parametrize(
    ("printed", "day"),
    [
        ("Wed Sep 14, 00:00 ??? 2005", "2005-09-14"),
        ("Thu Jan  1, 00:00 ??? 1970", None),
        ("Wed Dec 31, 16:00 PST 1969", None),
    ],
)
def test_a_recording_of_a_replay_has_no_invented_time(printed: str, day: str | None) -> None:
    text = (
        f"\nMovelist for game 1:\n\nAnn (UNR) vs. Bob (UNR) --- {printed}\nUnrated blitz match, "
        "initial time: 3 minutes, increment: 0 seconds.\n\nMove  Ann                     Bob\n"
        "----  ----------------   ----------------\n  1.  e4      (0:00)\n      {Still in progress} *\n"
    )
    games, _ = run([text.encode()], "raw")
    assert [(game.started_at_ms, game.date_text) for game in games] == [(None, day)]
    assert parse_started(printed) == (None, False, False)


def test_style_1_has_names_clocks_and_the_last_move(tmp_path: Path) -> None:
    games = saved(
        tmp_path,
        'White "Ann"',
        'Black "Bob"',
        'TimeControl "180+0"',
        moves="1. e4 {[%clk 0:02:57]} e5 {[%clk 0:02:59]} *",
    )
    client = Client.of(games)
    client.say("observe 1")
    board = client.wait().split("Game 1 (Ann vs. Bob)\n\n")[-1].split("\nfics%")[0]
    assert board == (
        """\
       ---------------------------------
    8  | *R| *N| *B| *Q| *K| *B| *N| *R|     Move # : 2 (White)
       |---+---+---+---+---+---+---+---|
    7  | *P| *P| *P| *P|   | *P| *P| *P|     Black Moves : 'e5      (0:01)'
       |---+---+---+---+---+---+---+---|
    6  |   |   |   |   |   |   |   |   |
       |---+---+---+---+---+---+---+---|
    5  |   |   |   |   | *P|   |   |   |     Black Clock : 2:59
       |---+---+---+---+---+---+---+---|
    4  |   |   |   |   | P |   |   |   |     White Clock : 2:57
       |---+---+---+---+---+---+---+---|
    3  |   |   |   |   |   |   |   |   |     Black Strength : 39
       |---+---+---+---+---+---+---+---|
    2  | P | P | P | P |   | P | P | P |     White Strength : 39
       |---+---+---+---+---+---+---+---|
    1  | R | N | B | Q | K | B | N | R |
       ---------------------------------
         a   b   c   d   e   f   g   h"""
    )


LOGINS = {
    "xboard": [
        "alias $ @", "$set interface xboard 4.9.1", "$iset startpos 1", "$iset ms 1", "$iset seekremove 1",
        "$set seek 1", "$iset nohighlight 1", "$iset lock 1", "$style 12", "set width 79", "date", "$sought",
    ],
    "PyChess": [
        "iset block 1", *(f"{number} {command}" for number, command in enumerate((
            "iset defprompt 1", "iset ms 1", "set interface PyChess 1.0.3", "showlist", "set autoflag 1",
            "iset seekinfo 1", "iset seekremove 1", "iset showownseek 1", "set style 12", "iset startpos 1",
            "iset movecase 1", "set unobserve 3", "set Lang English", "set height 240", "inchannel Looker",
            "help channel_list", "iset nowrap 1", "news", "iset pendinfo 1", "set open 1", "set seek 0",
            "set shout 0", "set cshout 0", "set tell 0", "set chanoff 1", "set gin 1", "set availinfo 1",
            "iset allresults 1", "iset pin 1", "set pin 1", "who IbslwBzSLx", "games /bslwBzSLx", "date", "finger",
            "stored", "history", "journal", "xtell chlog Next", "set busy here", "iset lock 1",
        ))),
    ],
    "Jin": [
        "$$iset seekinfo 1", "$$iset pendinfo 0", "$set interface Jin 2.14.1", "$set ptime 0", "$set bell 0",
        "$set style 12", "+channel 1", "$$set cshout 1",
    ],
    "BabasChess": [
        "set interface BabasChess 4.0 (build 12274)", "set style 12", "set seek 0", "iset compressmove 1",
        "iset gameinfo 1", "iset premove 1", "iset smartmove 0", "set prompt", "set ptime 0", "=notify", "=gnotify",
        "=channel", "alias", "variables", "ivariables", "sought all", "bugwho", "pending", "znotify", "logons Looker",
    ],
    "eboard": [
        "set interface eboard 1.1.1/Linux", "iset startpos 1", "iset defprompt 1", "iset ms 1", "iset premove 1",
        "iset seekinfo 1", "iset seekremove 1", "iset lock 1", "style 12", "games", "sough", "allob 1", "log Looker",
        "var",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", LOGINS)
def test_every_command_of_a_clients_login_is_known(tmp_path: Path, name: str) -> None:
    client = Client.of(saved(tmp_path, 'White "Ann"', 'Black "Bob"', moves="1. e4 *"))
    for line in LOGINS[name]:
        assert not re.search(r"not found|No such|Ambiguous|Bad value|not logged in$", client.say(line)), line


class Wire(asyncio.Transport):
    """The server's side of a connection; ``written`` are the pieces as they are sent."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


@in_loop
async def test_a_board_and_the_end_of_its_game_are_sent_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients lose the last move where one read has both."""
    monkeypatch.setattr("recorder.replay.server.sockets._APART_S", 0.001)
    show = open_show(saved(tmp_path, 'White "Ann"', 'Black "Bob"', moves="1. e4 e5 1-0"))
    clients = ReplayClients(lambda number, _: ReplaySession(show, number, Greeting(), answer_command))
    wire = Wire()
    link = _Link(ReplayServer(clients, print))
    link.connection_made(wire)
    link.data_received(b"Looker\n\nset style 12\nobserve 1\ntell replay speed 1000\n")
    while not any(b"Removing game 1" in piece for piece in wire.written):
        await asyncio.sleep(0)
    link.connection_lost(None)
    ends = [piece for piece in wire.written if b"} 1-0" in piece]
    assert len(ends) == 1
    assert b"<12>" not in ends[0]
