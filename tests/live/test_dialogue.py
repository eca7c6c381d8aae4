"""Cues in the server's output during a login, for any chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.live.login.dialogue import Cue, CueKind, CueReader
from tests.live.dialogues import DIALOGUES, WILL, WONT

K = CueKind


def kinds(cues: list[Cue]) -> list[tuple[CueKind, str]]:
    return [(cue.kind, cue.text) for cue in cues if cue.kind not in (K.LINE, K.NOTICE)]


@pytest.mark.parametrize(
    ("received", "cues"),
    [
        (b"\n\rlogin: ", [(K.NAME, "")]),
        (b"LOGIN:password:", [(K.NAME, ""), (K.PASSWORD, "")]),
        (b"\x07[G]\x00login: ", [(K.NAME, "")]),
        (b"log[G]\x00in: pass[G]\x00word: [G]\x00fics[G]\x00% ", [(K.NAME, ""), (K.PASSWORD, ""), (K.PROMPT, "fics%")]),
        (b"password: " + WILL + WONT, [(K.PASSWORD, ""), (K.HIDE, ""), (K.SHOW, "")]),
        (b"pass\xff\xf1word: ", [(K.PASSWORD, "")]),
        (b"\xff\xff" + WILL + b"x\n", [(K.HIDE, "")]),
        (b"Press return to enter the FICS as \"Ann\":" + WONT + b"__\n\rfics% ",
         [(K.CALLED, "Ann"), (K.RETURN, ""), (K.SHOW, ""), (K.PROMPT, "fics%")]),
        (b"**** Starting FICS session as Ann(TM) ****\n", [(K.STARTED, "Ann")]),
        (b"12:30_fics% \n", [(K.PROMPT, "12:30_fics%")]),
        (b"\n<12> rnbq\n", [(K.PROMPT, "")]),
        (b"Style 12 set.\n", [(K.PROMPT, "")]),
        (b"\x19(0 Ann {}\x19)\n", [(K.STARTED, "Ann")]),
        (b"\x19(69 5 {Ann is a registered name.}\x19)", [(K.PASSWORD, "")]),
        (b"\x19(69 5 {Ann is a registered name.}\x19)password: ", [(K.PASSWORD, "")]),
        (b"\x19(69 11 {Invalid password.}\x19)\x19]login: ", [(K.NAME, "")]),
        (b"Enter your new password: ", [(K.PASSWORD, "")]),
        (b"Bob tells you: login: \nBob(1)[2] kibitzes: password: \n", []),
        (b"If it is yours, type the password.\n", []),
    ],
)  # fmt: skip
def test_cues(received: bytes, cues: list[tuple[CueKind, str]]) -> None:
    for cut in range(len(received) + 1):
        reader = CueReader()
        assert kinds(reader.receive(received[:cut]) + reader.receive(received[cut:])) == cues


@pytest.mark.parametrize("name", DIALOGUES)
@given(st.data())
def test_any_chunks_give_the_same_cues(name: str, data: st.DataObject) -> None:
    for step in DIALOGUES[name]:
        whole, pieces = CueReader(), CueReader()
        places = data.draw(st.lists(st.integers(0, len(step.says)), max_size=6).map(sorted))
        cut = [step.says[a:b] for a, b in zip([0, *places], [*places, len(step.says)], strict=True)]
        assert kinds(whole.receive(step.says)) == kinds([cue for piece in cut for cue in pieces.receive(piece)])


def test_after_the_login_only_prompts_are_cues() -> None:
    reader = CueReader()
    reader.logged_in = True
    assert reader.receive(b"\n<12> x\nStyle 12 set.\nfics% mine% ") == []
    assert not {K.NAME, K.PASSWORD} & {cue.kind for cue in reader.receive(b"\nlogin: as somebody\nNew pass")}
    assert kinds(reader.receive(b"word: ")) == [(K.PASSWORD, "")]
    assert kinds(reader.receive(b"\nfics% \nlogin: "))[-1] == (K.NAME, "")


def test_a_possible_user_defined_prompt_is_one_cue() -> None:
    reader = CueReader()
    assert kinds(reader.receive(b"a line\nmine% ")) == [(K.LONE_WORD, "mine% ")]
    assert reader.receive(b"") == []
    assert reader.finish() == [Cue(K.LINE, "mine% ")]


def test_an_endless_line_takes_bounded_memory() -> None:
    reader = CueReader()
    for _ in range(100):
        reader.receive(b"x" * 10_000)
    assert len(reader._line) < 10_000
    assert kinds(reader.receive(b" login: \nlogin: ")) == [(K.NAME, "")]
