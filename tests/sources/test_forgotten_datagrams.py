"""What forgotten handles said in datagrams and stamped logs is gone; what is around it stays whole."""

import pytest

from recorder.model.observations import SourceKind
from recorder.sources.redaction import Forgotten, Redactor, hash_handle, silenced


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        ("\x19(26 7 Carl {GM} 1 \x19{hello\nthere\x19}\x19)", "\x19(26 7 X___ **** * \x19{*****\n*****\x19}\x19)"),
        ("\x19(31 Carl {} \x19{secret\x19} 1\x19)", "\x19(31 X___ ** \x19{******\x19} *\x19)"),
        ("\x19(28 5 Carl {} \x19{x\x19} 1\x19)", "\x19(28 5 X___ ** \x19{*\x19} *\x19)"),
        ("\x19(26 7 Ann {} 1 \x19{hi Carl\x19}\x19)", "\x19(26 7 Ann {} 1 \x19{hi X___\x19}\x19)"),
        ("\x19(24 7 e4\x19)", "\x19(24 7 e4\x19)"),
    ],
)
def test_handles_of_erased_players_are_masked_in_datagrams(printed: str, kept: str) -> None:
    forgotten = Forgotten([hash_handle("Carl")])
    around = "\x19(56 7 W 1 0\x19){}\x19(24 7 e4\x19)\r\n"
    redactor = Redactor(forgotten, SourceKind.RAW)
    assert redactor.receive(around.format(printed).encode()).decode() == around.format(kept)
    speaks = "Carl" in printed and "Ann" not in printed
    assert silenced(forgotten.text(printed)) == (False if speaks else None)
    assert silenced(kept) == (True if speaks else None)


@pytest.mark.parametrize(
    "stamp", ["", "20:06:50 ", "> ", "[20:06:50] ", "Fri May  8 20:06:50 2015:DEBUG:ics->icsdrone: "]
)
@pytest.mark.parametrize("begin", ["", "\\015", "\\012\\015fics% \\012\\015", "\xef\xbb\xbf"])
def test_handles_of_erased_players_are_masked_behind_stamps_and_escaped_line_ends(stamp: str, begin: str) -> None:
    first, behind = (begin, "") if begin.startswith("\xef") else ("", begin)
    said = f"{first}{stamp}{behind}Carl(55): secret\\012\n{stamp}\\   secret\n"
    line = f"{said}{stamp}\\   secret\n{stamp}<12> x\n"
    for size in (len(line), len(said)):
        redactor = Redactor(Forgotten([hash_handle("Carl")]), SourceKind.STAMPED)
        kept = b"".join(redactor.receive(part.encode("latin-1")) for part in (line[:size], line[size:]))
        assert kept.decode("latin-1") == line.replace("Carl", "X___").replace("secret", "******")
