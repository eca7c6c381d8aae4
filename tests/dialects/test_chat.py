"""Human words, both ways."""

import pytest

from recorder.dialects.chat import format_chat, parse_chat
from recorder.events import ChatKind, ChatLine, Line
from tests.dialects.lines import recognise

K = ChatKind
TABLE = [
    ("X(TD)(SR) tells you: text", K.TELL, "X", "(TD)(SR)", None, None, "text"),
    ("X(U)[386] says: text", K.SAY, "X", "(U)", 386, None, "text"),
    ("X says: text", K.SAY, "X", None, None, None, "text"),
    ("X (your partner) tells you: text", K.PARTNER_TELL, "X", None, None, None, "text"),
    ("X(C)(53): text", K.CHANNEL, "X", "(C)", None, "53", "text"),
    ("X shouts: text", K.SHOUT, "X", None, None, None, "text"),
    (":X(TM)(T5): text", K.QTELL, None, None, None, None, "X(TM)(T5): text"),
    (
        "    **ANNOUNCEMENT** from relay: FICS is relaying",
        K.ANNOUNCEMENT,
        "relay",
        None,
        None,
        None,
        "FICS is relaying",
    ),
    ("(told X, who is playing)", K.ECHO, None, None, None, None, "(told X, who is playing)"),
    ("kibitzed to 3.", K.ECHO, None, None, None, None, "kibitzed to 3."),
    ("X[12] kibitzes: text: more", K.KIBITZ, "X", None, 12, None, "text: more"),
    ("X[12] whispers: <12> ", K.WHISPER, "X", None, 12, None, "<12> "),
]
ONE_WAY = [
    ("X(C)( 958)[235] kibitzes: text", K.KIBITZ, "X", "(C)", 235, None, "text"),
    ("LectureBot(TD)(----)[1] kibitzes: hi", K.KIBITZ, "LectureBot", "(TD)", 1, None, "hi"),
    ("TestGuestB(U)(++++)[1] whispers: hmm", K.WHISPER, "TestGuestB", "(U)", 1, None, "hmm"),
    ("X(1234) kibitzes: old", K.KIBITZ, "X", None, None, None, "old"),
    ("X c-shouts: text", K.SHOUT, "X", None, None, None, "text"),
    ("(3) Capablanca shouts: {Game 1 (A vs. B) A resigns} 0-1", K.SHOUT, "Capablanca", None, None, None, None),
    ("--> X text", K.SHOUT, "X", None, None, None, "text"),
    ("J\xc3\xbcrgen(53): na\xefve", K.CHANNEL, "J\xc3\xbcrgen", None, None, "53", "na\xefve"),
]


@pytest.mark.parametrize(("text", "kind", "speaker", "titles", "game", "channel", "words"), [*TABLE, *ONE_WAY])
def test_chat(
    text: str,
    kind: K,
    speaker: str | None,
    titles: str | None,
    game: int | None,
    channel: str | None,
    words: str | None,
) -> None:
    got = parse_chat(Line(text, 0))
    assert isinstance(got, ChatLine)
    assert (got.kind, got.speaker, got.titles, got.game_no, got.channel) == (kind, speaker, titles, game, channel)
    assert words is None or got.text == words
    assert recognise(text) == [got]


@pytest.mark.parametrize("text", [row[0] for row in TABLE])
def test_both_ways(text: str) -> None:
    got = parse_chat(Line(text, 0))
    assert isinstance(got, ChatLine)
    assert format_chat(got) == text


@pytest.mark.parametrize("text", ["Game 4: X offers a draw.", "You are now observing game 4.", "", "two words: here"])
def test_what_is_no_chat(text: str) -> None:
    assert parse_chat(Line(text, 0)) is None
