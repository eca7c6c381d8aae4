"""Logging in: the server's bytes → what to answer, until we are in or know why not.

One machine serves all servers, since they differ in words and not in order: a name is asked for, then a password or,
of a guest, an empty line; then the session has begun, which the server says or shows by its first prompt. It is
refused with a sentence, by asking again, or by closing the connection; a sentence in the banner or in the message of
the day is no refusal, so those count only when the connection ends.

Source: FICS 1.6.2, Lasker and FatICS for the refusals; ``recorder.live.login.dialogue`` names those of the prompts.
"""

from __future__ import annotations

import getpass
import importlib
import os
import re
import sys
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from recorder.dialects.session import Family, detect_dialect
from recorder.errors import LoginError, PasswordError
from recorder.events import SessionNotice, SessionNoticeKind
from recorder.live import PASSWORD_VARIABLE
from recorder.live.login.dialogue import Cue, CueKind, CueReader

CREDENTIAL = "ics-recorder.password"
"""The name of the credential in a systemd unit (``LoadCredential=``)."""
_SERVICE = "ics-recorder"


def find_password(user: str, host: str, report: Callable[[str], object]) -> str:
    """The keyring's entry is ``user@host``; ``report`` gets lines for the user, empty after an interrupted question."""
    known = os.environ.pop(PASSWORD_VARIABLE, None)
    if known is not None:
        return _checked(known, f"{PASSWORD_VARIABLE} is", f"put the password of {user} into it, or unset it")
    credential = _from_credentials()
    if credential is not None:
        return _checked(credential, f"The credential {CREDENTIAL} is", "put the password on its only line")
    name = f"{user}@{host}"
    kept = _from_keyring(name, report)
    if kept is not None:
        return _checked(kept, f"The keyring's entry {name} is", "store the password again")
    return _checked(_ask(user, report), f"The password of {user} is", "start again")


def _checked(password: str, subject: str, remedy: str) -> str:
    if not password:
        raise PasswordError(f"{subject} empty: {remedy}.")
    if any(character in password for character in "\r\n\0"):
        raise PasswordError(f"{subject} more than one line: {remedy}.")
    try:
        password.encode()
    except UnicodeEncodeError:
        raise PasswordError(f"{subject} no text in UTF-8: {remedy}.") from None
    return password


def _from_credentials() -> str | None:
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    if not folder:
        return None
    try:
        data = (Path(folder) / CREDENTIAL).read_bytes()
    except OSError:
        return None
    return data.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r")


def _from_keyring(name: str, report: Callable[[str], object]) -> str | None:
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    try:
        password = keyring.get_password(_SERVICE, name)
    except Exception as error:  # its backends raise errors of their own
        if type(error).__name__ != "NoKeyringError":
            report(f"The keyring cannot be read ({type(error).__name__}).")
        return None
    return None if password is None else str(password)


def _ask(user: str, report: Callable[[str], object]) -> str:
    if not _terminal():
        raise PasswordError(f"There is no terminal to ask for the password of {user}: set {PASSWORD_VARIABLE}.")
    try:
        return getpass.getpass(f"Password of {user}: ")
    except EOFError:
        return ""
    except KeyboardInterrupt:
        report("")  # the cursor is behind the question
        raise


def _terminal() -> bool:
    """Whether there is a terminal to ask on without displaying the answer."""
    if sys.stdin is not None and sys.stdin.isatty():
        return True
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


class WrongPasswordError(LoginError):
    """The server does not take the password: asked again and again, it may shut us out."""


class UnansweredLoginError(LoginError):
    """The server has said nothing more, perhaps because it waits for an answer to words that nobody here knows."""


class LoggedIn(NamedTuple):
    family: Family | None  # None: unknown
    handle: str | None  # as the server writes it; None: a guest whose name is unknown
    guest: bool


class _Stage(IntEnum):
    CALLING = 0  # connected
    NAMED = 1  # the name was sent
    ENTERING = 2  # the password or a guest's empty line was sent


_GUEST: Final = "guest"
_HANDLE: Final = re.compile(r"[!-~]{1,60}")
_HIDDEN_MS: Final = 3_000  # echo was switched off behind an unknown prompt
_LONGEST_WORDS: Final = 400  # of a line that is searched for a reason of refusal
_PATIENCE_MS: Final = {_Stage.CALLING: 30_000, _Stage.NAMED: 60_000, _Stage.ENTERING: 60_000}
# A banner's own words, where no line of it is known.
_BANNER_WORDS: Final = (
    (Family.ICC, re.compile(r"\bchessclub\.com\b", re.I)),
    (Family.FATICS, re.compile(r"\bfatics\b", re.I)),
    (Family.CHESSNET, re.compile(r"\bchess\.net\b", re.I)),
    (Family.FICS, re.compile(r"\bfreechess\.org\b", re.I)),
)
_WRONG_PASSWORD: Final = "The server does not accept this password for {who}; check the name and the password."
# What a line says with which a server refuses us at once, at which stages, and what to tell.
_REFUSALS: Final = (
    ({_Stage.ENTERING}, {r"(?:invalid|incorrect|wrong|bad) password": _WRONG_PASSWORD}),
    (
        {_Stage.NAMED},
        {
            r"names? (?:can|may|must|should) only (?:consist|contain)": (
                "The server takes only letters in a name, not {who}; choose another name."
            ),
            r"name.* at least (?P<size>\w+) (?:characters|letters)": (
                "The server takes no name as short as {who}; it must have at least {size} letters."
            ),
            r"names? .*at most (?P<size>\w+) (?:characters|letters)": (
                "The server takes no name as long as {who}; it may have at most {size} letters."
            ),
            r"\b(?:is|are) banned\b": "The server has banned {who}.",
            r"guest (?:connections|logins)\b.*\b(?:prevented|blocked|disabled)": (
                "The server lets no guests in from here; log in with a registered name."
            ),
            r"nobody from your site may login without": (
                "The server refuses guests from this address; log in with a registered name."
            ),
            r"nobody from your site may login": (
                "The server refuses logins from this address; ask its administrators."
            ),
            r"\b(?:server|FICS|club)\b.* is .*\bfull\b|\btoo many (?:players|users|guests|connections)\b": (
                "The server is full; try again later."
            ),
            r"\bunknown (?:time|zip)seal version|\b(?:time|zip)seal error": (
                "The server does not understand our time seal; connect without it."
            ),
            r"\W*(?:good ?bye|bye)\b": "The server said goodbye instead of letting {who} in.",
        },
    ),
    (
        {_Stage.NAMED, _Stage.ENTERING},
        {
            r"\bis already logged in\b(?!.*(?:kick|clos))": (
                "{who} is already logged in; choose another name or try again later."
            ),
            r"\*{4} LOGIN TIMEOUT \*{4}": "The login of {who} took too long for the server; try again.",
            r"\bbad (?:playerfile|name field)\b": (
                "The server's file about {who} is corrupt; write to its administrators, or log in as a guest."
            ),
        },
    ),
)
_REFUSED: Final = [
    (stages, re.compile(form, re.I), text) for stages, forms in _REFUSALS for form, text in forms.items()
]


class Login:
    """A login, of a guest without a handle, complete once ``logged_in`` is set; ``password`` is called if needed."""

    def __init__(self, handle: str | None, password: Callable[[], str] | None = None) -> None:
        if handle is not None and not _HANDLE.fullmatch(handle):
            raise LoginError("A login name is one word without spaces; choose another one.")
        self.logged_in: LoggedIn | None = None
        self._handle = handle
        self._password = password
        self._reader = CueReader()
        self._stage = _Stage.CALLING
        self._family: Family | None = None
        self._family_named = False  # by a known line, not only by a word in a line
        self._called: str | None = None
        self._guest = True
        self._hidden = False  # the next typed line is not displayed
        self._reason: str | None = None  # why the server may be about to close the connection
        self._last_line = ""
        self._to_send = b""

    @property
    def patience_ms(self) -> int:
        """How long to wait for more bytes before ``timed_out`` is to be called."""
        return _HIDDEN_MS if self._unknown_prompt else _PATIENCE_MS[self._stage]

    @property
    def _unknown_prompt(self) -> bool:
        """Whether the server asks for a password, or for a guest's empty line, in unknown words."""
        return self._hidden and self._stage is _Stage.NAMED

    def receive(self, data: bytes) -> bytes:
        """Return the whole lines to send now, each to be sealed on a sealed connection."""
        self._hear_all(self._reader.receive(data))
        answer, self._to_send = self._to_send, b""
        return answer

    def closed(self) -> NoReturn:
        """LoginError: the server closed the connection before the login was complete."""
        self._hear_all(self._reader.finish())
        if self._reason is not None:
            raise LoginError(self._reason)
        moment = {
            _Stage.CALLING: "before it asked for a name",
            _Stage.NAMED: f"after it received the name {self._who}",
            _Stage.ENTERING: f"instead of letting {self._who} in",
        }[self._stage]
        # A server may repeat the password, and this object does not keep it to compare.
        words = f"; its last line was: {self._last_line}" if self._last_line and self._guest else "."
        raise LoginError(f"The server closed the connection {moment}{words}")

    def timed_out(self) -> bytes:
        """Answer a prompt in another language after ``patience_ms`` without a byte, or raise LoginError."""
        if self._unknown_prompt:
            if self._password is None:
                self._enter_as_guest()
            else:
                self._send_password()
            answer, self._to_send = self._to_send, b""
            return answer
        waited = f"in {self.patience_ms // 1000} seconds"
        if self._stage is _Stage.CALLING:
            raise UnansweredLoginError(
                f"The server has not asked for a name {waited}; is this a chess server's address?"
            )
        raise UnansweredLoginError(f"The server has not answered the login of {self._who} {waited}; try again later.")

    @property
    def _who(self) -> str:
        return self._handle or "a guest"

    def _hear_all(self, cues: list[Cue]) -> None:
        for cue in cues:
            if self.logged_in is None:
                self._hear(cue)

    def _hear(self, cue: Cue) -> None:
        kind = cue.kind
        if kind is CueKind.NAME:
            self._send_name()
        elif kind is CueKind.PASSWORD:
            self._send_password()
        elif kind is CueKind.RETURN:
            self._enter_as_guest()
        elif kind in (CueKind.HIDE, CueKind.SHOW):
            self._hidden = kind is CueKind.HIDE
        elif kind is CueKind.CALLED:
            self._called = cue.text
        elif kind is CueKind.STARTED:
            self._called = cue.text
            self._begin(None)
        elif kind is CueKind.PROMPT:
            if self._stage is not _Stage.CALLING:
                self._begin(cue.text or None)
        elif kind is CueKind.LONE_WORD:
            if self._stage is _Stage.ENTERING:
                self._begin(None)
        elif cue.notice is not None:
            self._hear_notice(cue.notice)
        elif kind is CueKind.LINE:
            self._hear_line(cue.text)

    def _send_name(self) -> None:
        if self._stage is not _Stage.CALLING:
            raise LoginError(self._reason or f"The server does not let {self._who} in: it asks for a name again.")
        self._send(self._handle or _GUEST)
        self._stage = _Stage.NAMED

    def _send_password(self) -> None:
        if self._stage is _Stage.CALLING:
            return
        if self._stage is _Stage.ENTERING:
            raise WrongPasswordError(f"The server refuses the login of {self._who}: it asks for the password again.")
        if self._handle is None:
            raise LoginError("The server requires a password from guests; log in with a registered name.")
        if self._password is None:
            raise LoginError(f"{self._who} is a registered name on this server; give its password or another name.")
        password = self._password()
        if not password or any(character in password for character in "\r\n\0"):
            raise LoginError(f"The password for {self._who} is empty or has more than one line; give another one.")
        self._send(password)
        self._guest = False
        self._stage = _Stage.ENTERING

    def _enter_as_guest(self) -> None:
        if self._stage is not _Stage.NAMED:
            return
        if self._handle is not None and self._password is not None:
            raise LoginError(f"{self._who} is not a registered name on this server; log in as a guest or correct it.")
        self._send("")
        self._stage = _Stage.ENTERING

    def _send(self, line: str) -> None:
        self._to_send += line.encode() + b"\n"

    def _begin(self, prompt: str | None) -> None:
        banner = None if self._family is None else self._family.value
        dialect = detect_dialect(banner, prompt, None)
        family = None if dialect is None else dialect.family
        self.logged_in = LoggedIn(family, self._called or self._handle, self._guest)

    def _hear_notice(self, notice: SessionNotice) -> None:
        if notice.kind is SessionNoticeKind.BANNER:
            if not self._family_named:
                self._family, self._family_named = Family(notice.value), True
        elif notice.kind is SessionNoticeKind.SHUTDOWN and notice.value is not None:
            raise LoginError("The server is shutting down; try again later.")
        elif notice.kind in (SessionNoticeKind.LOGOUT, SessionNoticeKind.IDLE_LOGOUT):
            self._reason = f"The server said goodbye instead of letting {self._who} in."
        elif notice.kind is SessionNoticeKind.TAKEN_OVER:
            raise LoginError(f"Another client has just logged in as {self._who}.")

    def _hear_line(self, text: str) -> None:
        text = text[:_LONGEST_WORDS]
        if self._stage is _Stage.CALLING and self._family is None:
            self._family = next((family for family, words in _BANNER_WORDS if words.search(text)), None)
        self._last_line = "".join(character for character in text.strip() if character.isprintable())[:120]
        for stages, form, sentence in _REFUSED:
            if match := form.search(text):
                reason = sentence.format(who=self._who, **match.groupdict())
                if self._stage in stages:
                    raise WrongPasswordError(reason) if sentence is _WRONG_PASSWORD else LoginError(reason)
                self._reason = reason
                return
