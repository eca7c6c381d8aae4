"""Commands of a client of the replay server, and their answers."""

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder import read_games
from recorder.dialects.results import parse_results
from recorder.events import Line
from recorder.model import Game, GameKind
from recorder.replay.server.commands import answer_command
from recorder.replay.server.control import CODES, read_command
from recorder.replay.server.login import Greeting
from recorder.replay.server.session import ReplaySession
from recorder.wire.timeseal import format_hello, seal
from tests.replay.clients import MANNER, Client, lines_of, open_show
from tests.support.corpus import SERVER, stream_bytes
from tests.support.effort import examples
from tests.support.product import run

CORPUS = SERVER.parent


@cache
def games_of(scenario: str, connection: str) -> list[Game]:
    games = run([stream_bytes(scenario, connection)], "raw")[0]
    return sorted(games, key=lambda game: game.first_offset)


def client(*settings: str, last: int = 3) -> Client:
    """A client of three games of one log."""
    made = Client.of(games_of("a01_standard", "observer_GuestObsA")[:last])
    made.say("set style 12", *settings)
    return made


def at(made: Client, ply: int) -> Client:
    """The same client, in the first game after this number of plies."""
    made.say("observe 1", "tell replay pause")
    while True:
        board = made.session.show.boards[1]
        if board.state is not None and board.state.ply >= ply:
            made.new()
            return made
        made.say("tell replay step")


# -- login -------------------------------------------------------------------------------------------------------


def door(manner: Greeting = MANNER) -> Client:
    return Client(
        ReplaySession(open_show(games_of("a01_standard", "observer_GuestObsA")[:1]), 5, manner, answer_command)
    )


def test_a_guest_is_given_a_name() -> None:
    made = door(Greeting(["Hello."]))
    assert made.say().endswith("login: ")
    assert 'Press return to enter the server as "GuestFAAA":' in made.say("guest")
    assert "**** Starting FICS session as GuestFAAA(U) ****" in made.say("")
    assert made.new() == ""


def test_a_password_is_asked_for_without_echo() -> None:
    made = door(Greeting(password=True))
    asked = made.say("Morphy")
    assert asked.endswith("password: \xff\xfb\x01")
    entered = made.say("anything")
    assert entered.startswith("\xff\xfc\x01")
    assert "**** Starting FICS session as Morphy ****" in entered
    assert "anything" not in entered


def test_invalid_names_are_refused() -> None:
    made = door()
    assert "names can only consist" in made.say("x9!")
    assert made.say("").endswith("login: ")
    assert "#Ivars set." in made.say("%b10011101010001000100001000000001000")
    made.say("Looker", "")
    assert "<d1>" not in made.say("set style 12", "observe 1")
    assert made.session.settings.has("compressmove")
    assert made.session.settings.has("lock")


def test_a_time_seal_is_removed() -> None:
    made = door()
    for line in (format_hello(1, "me", "here"), b"Looker", b"", b"set style 12"):
        made.session.receive(seal(line, 1234), 0)
    made.session.receive(seal(b"\x029", 99), 0)
    assert "Style 12 set." in made.say()


def test_a_line_may_come_in_pieces_and_with_telnet_commands() -> None:
    made = door()
    for byte in b"\xff\xfd\x01Loo\xff\xfb\x03ker\r\n\r\0\nset sty\xff\xf1le 12\r\n":
        made.session.receive(bytes((byte,)), 0)
    assert "Style 12 set." in made.say()
    made.session.receive(b"\xff\xf4", 0)
    assert made.session.closed


# -- commands ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "name", "rest"),
    [
        ("observe 12", "observe", "12"),
        ("o 12", "observe", "12"),
        ("obs 12", "observe", "12"),
        ("$observe 12", "observe", "12"),
        ("$$date", "date", ""),
        ("  MOVES   3 ", "moves", "3"),
        ("hel", "help", ""),
        ("'hello", "kibitz", "hello"),
        ("quit", "quit", ""),
        ("unex", "unexamine", ""),
        ("wh", None, ""),
        ("xyzzy", None, ""),
        ("", None, ""),
    ],
)
def test_aliases_and_abbreviations(line: str, name: str | None, rest: str) -> None:
    command = read_command(line, False)
    assert (command.name, command.rest) == (name, rest)


def test_block_numbers() -> None:
    assert read_command("7 observe 12", True)[:2] == (7, "observe")
    assert read_command("observe 12", True)[0] is None


ANSWERS: list[tuple[str, str]] = [
    ("games", r" +1 .*Morphy +1586 Anderssen +\[ br  5   0\] +5:00 - +5:00 \(39-39\) W: +1"),
    ("observe 1", r"You are now observing game 1\."),
    ("observe morphy", r"You are now observing game 1\."),
    ("observe 77", r"There is no such game\."),
    ("unobserve", r"You are not observing any games\."),
    ("unobserve 1", r"You are not observing game 1\."),
    ("pobserve 1", r"Game 1 has no partner game here\."),
    ("follow Morphy", r"You will now be following Morphy's games\.\nYou are now observing game 1\."),
    ("follow", r"You will not follow any player's games\."),
    ("moves", r"You are not observing any games\."),
    ("moves 1", r"\nMovelist for game 1:\n"),
    ("refresh 1", r"\n<12> rnbqkbnr .* 1 Morphy Anderssen -3 5 0 "),
    ("who", r"---- Anderssen .*---- Looker .*---- Morphy"),
    (
        "finger Morphy",
        r"Finger of Morphy:\n\n\(playing game 1: Morphy vs\. Anderssen\)\nrating in this recording: 1882",
    ),
    ("finger Nobody", r"There is no player matching the name Nobody\."),
    ("history Morphy", r"\nHistory for Morphy:\n.*\n 0: \+ 1882 W 1586 Anderssen "),
    ("history", r"Looker has no history games\."),
    ("smoves Morphy 0", r"\nMorphy \(1882\) vs\. Anderssen \(1586\) --- .*\n.*\n\nMove  Morphy(?:.*\n)*.*1-0\n"),
    ("date", r"Local time +- .*\nServer time +- .*\nGMT"),
    ("inchannel", r"No channels are in use\."),
    ("inchannel 5", r"Channel 5 is empty\."),
    ("inchannel Looker", r"Looker is in no channels\."),
    ("showlist", r"Lists:"),
    ("showlist channel", r"-- channel list: 0 names --"),
    ("stored", r"Looker has no adjourned games\."),
    ("journal Morphy", r"Morphy has no journal entries\."),
    ("help", r"This server replays recorded games"),
    ("tell Morphy hello", r"\(told Morphy\)"),
    ("tell Nobody hello", r"Nobody is not logged in\."),
    ("kibitz hello", r"You are not playing, observing or examining a game\."),
    ("match Morphy", r"This is a replay: you cannot play here\."),
    ("resign", r"You are not playing a game\."),
    ("e2e4", r"You are not playing or examining a game that takes moves\."),
    ("Nf3", r"You are not playing or examining a game that takes moves\."),
    ("o-o", r"You are not playing or examining a game that takes moves\."),
    ("xyzzy 1", r"xyzzy: Command not found\."),
    ("wh", r'Ambiguous command "wh"\. Matches: whisper who'),
    ("", r"fics% "),
    ("set width 40", r"Width set to 40\."),
    ("set width 4000", r"Bad value given for variable width\."),
    ("set nothing 1", r'No such variable "nothing"\.'),
    ("iset nothing 1", r'No such ivariable "nothing"\.'),
    ("iset ms 2", r"Bad value given for ivariable ms\."),
    ("set prompt Hm>", r'Prompt now set to "Hm> "\.\nHm> '),
    ("style 1", r"Style 1 set\."),
    ("style 99", r"Bad value given for variable style\."),
    ("variables", r"Variable settings of Looker:\n\nstyle=12 "),
    ("ivariables", r"Interface variable settings of Looker:\n\ncompressmove=0 "),
    ("games /b", r" +1 .*Morphy "),
    ("games /Bls", r"There are no games in progress\."),
    ("games /zb", r" +1 .*Morphy "),
    ("sposition Morphy 0", r"\n<12> .* 0 Morphy Anderssen -3 5 0 "),
    ("allobservers 1", r"No one is observing game 1\."),
    ("tell 53 hello", r"\(told 0 players in channel 53\)"),
    ("+notify Morphy", r"This replay keeps no lists\."),
    ("-channel 53", r"This replay keeps no lists\."),
    ("=notify", r"-- notify list: 0 names --"),
    ("set 1 Hello there", r"Note 1 set: Hello there\."),
    ("set f5 1=1", r"Formula variable f5 set to 1=1\."),
    ("next", r"There is no more\."),
    ("forward", r"You are not examining or setting up a game\."),
    ("unexamine", r"You are not examining a game\."),
    ("examine Nobody", r"There is no recorded game of Nobody\."),
    ("tell replay where", r"\(told replay\)\nreplay tells you: paused at 0:00 of "),
    ("tell replay speed 4", r"\(told replay\)\nreplay tells you: paused at .* speed 4\n"),
    ("tell replay speed -1", r"\(told replay\)\nreplay tells you: -1 is not a speed"),
    ("tell replay seek 999w", r"\(told replay\)\nreplay tells you: This recording has no move 999w"),
    ("tell replay dance", r"\(told replay\)\nreplay tells you: There is no command dance"),
]


@pytest.mark.parametrize(("line", "answer"), ANSWERS)
def test_each_answer(line: str, answer: str) -> None:
    printed = client().say(line)
    assert re.search(rf"(?m)^{answer}", printed), printed
    assert printed.endswith(("% ", "> "))


def test_every_command_is_answered_without_and_with_invalid_arguments() -> None:
    for name in CODES:
        for words in ("", " 1", " Morphy 0", " 99999999999", " \x00\xff %s {}", " -1 -1"):
            made = client()
            made.say(name + words)
            assert made.session.closed is (name == "quit")


def test_block_mode_brackets_every_answer() -> None:
    made = client("iset block 1")
    assert made.say("3 observe 1").startswith("\x153\x1680\x16You are now observing game 1.\n")
    assert made.new() == ""
    assert "\x154\x16512\x16xyzzy: Command not found.\n\x17\nfics% " in made.say("4 xyzzy")
    assert "\x150\x16519\x16\x17" in made.say("observe 1")
    assert made.wait(1).startswith("\n<12> ")


def test_a_lock_keeps_settings() -> None:
    made = client("iset ms 1", "iset lock 1")
    assert made.say("iset ms 0").startswith("Cannot alter: Interface setting locked.")
    assert ".000)" in made.say("observe 1")


def test_the_client_chooses_seconds_or_milliseconds() -> None:
    whole, exact = at(client(), 8), at(client("iset ms 1"), 8)
    one, two = (lines_of(made.say("refresh 1"), "<12>")[0].split() for made in (whole, exact))
    assert int(two[24]) // 1000 == int(one[24])
    assert "." in two[28]
    assert "." not in one[28]


def test_times_recorded_in_seconds_stay_in_seconds() -> None:
    made = Client.of(games_of("b01_standard", "observer_GuestXa")[:1])
    made.say("set style 12", "iset ms 1", "observe 2")
    frames = lines_of(made.wait(), "<12>")
    assert frames
    assert not any("." in frame.split()[28] for frame in frames)
    assert {len(frame.split()) for frame in frames} == {32}, "the lag is not known"


def test_gameinfo_and_deltas() -> None:
    made = client("iset gameinfo 1", "iset compressmove 1")
    assert lines_of(made.say("observe 1"), "<g1>") == ["<g1> 1 t=blitz r=1 it=300,0 i=300,0 pt=0 rt=1882,1586"]
    heard = made.wait(6)
    assert lines_of(heard, "<d1>")[2].startswith("<d1> 1 3 Nf3 g1f3 ")


def test_the_start_position_of_a_list() -> None:
    made = Client.of(games_of("a05_chess960", "observer_GuestObsG")[:1])
    made.say("set style 12", "iset startpos 1", "observe 1")
    made.wait(6)
    number = next(iter(made.session.observed))
    assert " -4 " in lines_of(made.say(f"moves {number}"), "<12>")[0]


def test_examining() -> None:
    made = client()
    answer = made.say("examine Morphy 0")
    board = lines_of(answer, "<12>")[0].split()
    assert (board[19], board[26]) == ("2", "1")
    assert lines_of(made.say("forward 3"), "<12>")[0].split()[26:30:3] == ["2", "Nf3"]
    assert "Looker backs up 1 move." in made.say("backward")
    assert lines_of(made.say("to 3w"), "<12>")[0].split()[27] == "P/d2-d4"
    answer = made.say("forward 999")
    assert "Anderssen checkmated 1-0" in answer
    assert "You're at the end of the game." in made.say("forward")
    assert "beginning" in made.say("backward 999", "backward")
    assert "You are no longer examining game" in made.say("unexamine")


def test_moves_are_tried_on_an_examined_board() -> None:
    made = client()
    made.say("examine Morphy 0", "forward 2")
    before = lines_of(made.say("refresh"), "<12>")[0].split()
    answer = made.say("a2-a3")
    board = lines_of(answer, "<12>")[0].split()
    assert (board[26], board[27], board[29], board[24]) == ("2", "P/a2-a3", "a3", before[24])
    assert "Game 1000: Looker moves: a3" in answer
    assert "Looker moves: h6" in made.say("h6")
    assert "You cannot go forward unless you are on the main line." in made.say("forward")
    assert lines_of(made.say("backward"), "<12>")[0].split()[29] == "a3"
    answer = made.say("revert")
    assert "reverts to main line move 2." in answer
    assert lines_of(answer, "<12>") == [" ".join(before)]
    assert lines_of(made.say("forward"), "<12>")[0].split()[29] == "Nf3"
    for text in ("Ke5", "a1a8", "o-o-o", "N@e4", "e9"):
        assert "<12>" not in made.say(text)
    assert "Illegal move (Ke5)." in made.say("Ke5")
    made.say("backward", "g1f3")
    assert lines_of(made.say("forward"), "<12>")[0].split()[26] == "3", "the recorded move is the main line"
    assert "goes to move 1." in made.say("b3", "to 0")


def test_moves_of_crazyhouse_are_tried_by_its_rules() -> None:
    game = next(game for game in games_of("a03_crazyhouse", "observer_GuestObsD") if game.complete)
    drop = next(ply for ply in game.plies if ply.san[1:2] == "@")
    made = Client.of([game])
    made.say("set style 12", "examine #1")
    assert "Illegal move (Q@e4)." in made.say("Q@e4")
    answer = made.say(f"to {drop.ply - 1}")
    hand = re.findall(r"white \[(\w*)\] black \[(\w*)\]", answer)[0][not drop.white_moved]
    assert drop.san[0] in hand
    answer = made.say(drop.san.rstrip("+#").lower())
    assert lines_of(answer, "<12>")[0].split()[29] == drop.san
    left = re.findall(r"white \[(\w*)\] black \[(\w*)\]", answer)[0][not drop.white_moved]
    assert len(left) == len(hand) - 1


def test_an_examined_game_is_shown_as_examined() -> None:
    games = [game for game in games_of("b05_examine_bsetup", "observer_GuestXl") if game.kind is GameKind.EXAMINED]
    made = Client.of(games[:1], manner=Greeting(observe=True))
    frames = lines_of(made.say("set style 12") + made.wait(), "<12>")
    assert len(frames) > 3
    assert {frame.split()[19] for frame in frames} == {"-2"}


def test_a_player_sees_own_games_from_the_players_side() -> None:
    games = games_of("a01_standard", "player_Morphy")[:2]
    made = Client.of(games, "Morphy")
    answer = made.say("set style 12")
    assert "{Game 1 (Morphy vs. Anderssen) Creating rated blitz match.}" in answer
    assert [frame.split()[19] for frame in lines_of(answer + made.wait(3), "<12>")][:3] == ["1", "-1", "1"]


def test_a_late_replay_does_not_delay_other_clients() -> None:
    made = client()
    made.say("observe 1", "tell replay speed 1000")
    made.session.tick(10**12)
    first = made.session.take_output().count(b"<12> ")
    assert 0 < first <= 50
    assert made.session.due_ns is not None
    assert made.session.due_ns < 10**12
    played = len(made.session.show.recording.chapter(0).game.plies)
    assert first + made.wait().count("\n<12> ") >= played


def test_seeking_shows_the_board_of_the_position() -> None:
    made = at(client(), 4)
    answer = made.say("tell replay seek 10w")
    assert lines_of(answer, "<12>")[0].split()[26:28] == ["10", "P/b7-b5"]
    board = made.session.show.boards[1]
    assert board.state.ply == 18
    made.say("tell replay seek start")
    assert made.session.show.boards == {}
    assert "You are now observing game 1." in made.say("tell replay step")


def test_another_game_with_the_number_of_the_observed_one_is_not_shown() -> None:
    made = Client.of(games_of("a01_standard", "observer_GuestObsA")[:3], manner=Greeting(observe=True))
    made.say("set style 12", "tell replay seek #2", "tell replay step", "tell replay pause")
    assert "Steinitz" in made.say("refresh 1")
    answer = made.say("tell replay seek #1", "tell replay step")
    assert re.search(r"Removing game 1 from observation list\.(?:.*\n)*You are now observing game 1\.", answer), answer


def test_the_greeting_names_the_command_that_lists_game_numbers() -> None:
    assert (
        '"games" lists the games in progress'
        in Client.of(games_of("b01_standard", "observer_GuestXa")[:1]).session.show_summary()
    )


def test_no_client_moves_a_shared_clock() -> None:
    shared = ReplaySession(
        open_show(games_of("a01_standard", "observer_GuestObsA")[:1]), 0, MANNER, answer_command, shared=True
    )
    made = Client(shared)
    made.say("Looker", "")
    assert "replay tells you: The time of this replay is shared: nobody can move it." in made.say("tell replay pause")


def test_following_sees_every_game_of_a_player() -> None:
    made = client()
    made.say("follow Morphy")
    heard = made.wait()
    assert "Steinitz vs." not in "".join(lines_of(heard, "<12>"))
    assert len(re.findall(r"^\{Game .*\} (?:1-0|0-1|1/2-1/2|\*)$", heard, re.M)) == 1


def test_gin_shows_starts_and_results_of_other_games() -> None:
    made = client("set gin 1")
    made.say("observe 1")
    heard = made.wait()
    assert "{Game 1 (Steinitz vs. Zukertort) Creating unrated blitz match.}" in heard
    assert "{Game 1 (Steinitz vs. Zukertort) Zukertort checkmated} 1-0" in heard


@pytest.mark.parametrize(
    "name",
    ["public/bughouse-db-3611438-with-lag.bpgn", "pgn/client-saved-2004-eboard.pgn", "ficsgames/2009-atomic.pgn"],
)
def test_saved_games_are_shown_with_boards_and_without_their_comments(name: str) -> None:
    games = list(read_games(CORPUS / name))[:4]
    made = Client.of(games, manner=Greeting(observe=True))
    heard = made.say("set style 12") + made.wait()
    plies = sum(len(game.plies) for game in games)
    assert len(lines_of(heard, "<12>")) >= plies
    assert "comment" not in heard


MATE = "1. f3 e5 2. g4 Qh4#"


@pytest.mark.parametrize(
    ("tags", "movetext", "result_line"),
    [
        ("", "1. e4 e5 {Black resigns} 1-0", "{Game 1 (Ann vs. Bob) Bob resigns} 1-0"),
        ("", "1. e4 e5 {Bob's king exploded} 1-0", "{Game 1 (Ann vs. Bob) Bob's king exploded} 1-0"),
        ("", f"{MATE} 0-1", "{Game 1 (Ann vs. Bob) Ann checkmated} 0-1"),
        ("", "1. e4 e5 1-0", "{Game 1 (Ann vs. Bob) Ann wins} 1-0"),
        ("", "1. e4 e5 1/2-1/2", "{Game 1 (Ann vs. Bob) Game was drawn} 1/2-1/2"),
        ("time forfeit", "1. e4 e5 0-1", "{Game 1 (Ann vs. Bob) Ann forfeits on time} 0-1"),
        ("adjudication", "1. e4 e5 1-0", "{Game 1 (Ann vs. Bob) Ann wins by adjudication} 1-0"),
        ("adjudication", "1. e4 e5 1/2-1/2", "{Game 1 (Ann vs. Bob) Game drawn by adjudication} 1/2-1/2"),
        (
            "",
            "1. e4 e5 {Game adjourned by mutual agreement} *",
            "{Game 1 (Ann vs. Bob) Game adjourned by mutual agreement} *",
        ),
        ("", "1. e4 e5 *", None),
    ],
)
def test_the_end_of_a_saved_game_is_reported(tmp_path: Path, tags: str, movetext: str, result_line: str | None) -> None:
    path = tmp_path / "x.pgn"
    result = movetext.rpartition(" ")[2]
    termination = f'[Termination "{tags}"]\n' if tags else ""
    path.write_text(f'[White "Ann"]\n[Black "Bob"]\n[Result "{result}"]\n{termination}\n{movetext}\n')
    made = Client.of(list(read_games(path)))
    made.say("set style 12")
    heard = made.say("observe 1") + made.wait()
    lines = heard.splitlines()
    assert lines.count("Removing game 1 from observation list.") == 1, "clients wait for it"
    assert [line for line in lines if line.startswith("{Game 1 ")] == ([] if result_line is None else [result_line])
    if result_line is not None:
        (ended,) = parse_results(Line(result_line, 0))
        assert (ended.game_no, ended.white, ended.black, ended.result) == (1, "Ann", "Bob", result)
    gin = Client.of(list(read_games(path)))
    gin.say("set gin 1", "tell replay play")
    assert [line for line in gin.wait().splitlines() if line == result_line] == (
        [] if result_line is None else [result_line]
    )


def test_long_lines_are_wrapped_as_by_servers() -> None:
    made = Client.of(games_of("a06_chatter_takebacks", "observer_Botvinnik")[:1])
    made.say("set style 12", "set width 60", "observe 1")
    heard = made.wait()
    assert "\n\\   " in heard
    assert all(len(line) <= 64 for line in heard.splitlines() if "kibitzes" in line)


LINES = st.one_of(
    st.binary(max_size=80),
    st.builds(
        lambda word, rest: f"{word} {rest}".encode("latin-1", "replace"),
        st.sampled_from([*CODES, "tell replay", "iset block", "set style 12", "o", "$$", "5 moves", "examine #1"]),
        st.sampled_from(["", "1", "Morphy", "12", "20w", "-1", "seek +10s", "speed 9", "ms 1", "99999999999999"])
        | st.text("0123456789 abw#/:", max_size=12),
    ),
)


@settings(max_examples=examples(120))
@given(st.lists(LINES, max_size=25), st.integers(1, 7))
def test_any_bytes_of_a_client_raise_nothing(lines: list[bytes], moments: int) -> None:
    made = client()
    for line in lines:
        made.session.receive(line + b"\n", made.now_ns)
        if not made.session.closed:
            made.wait(moments)
    assert made.session.take_output() is not None


@settings(max_examples=examples(60))
@given(st.binary(max_size=300), st.integers(1, 50))
def test_any_bytes_at_the_login_raise_nothing(data: bytes, size: int) -> None:
    made = door()
    for begin in range(0, len(data), size):
        made.session.receive(data[begin : begin + size], 0)
