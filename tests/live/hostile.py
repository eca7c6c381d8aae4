"""Random login dialogues of a server and a client that do what goes wrong: for the guard of secrets.

The client types before the prompts, at wrong prompts, letter by letter, with corrections and telnet commands; the
server echoes each line, each letter or some letters late, and prints names, codes and passwords again.
"""

import random
import string

from tests.live.logins import C, S, Script

NAMES = [b"login: ", b"Username: ", b"Name? ", b"handle> ", b"Wer da? ", b"", b"Who are you", b"Your name please\r\n"]
NAMES += [b"\xe7\x94\xa8\xe6\x88\xb7: ", b"Nom d'utilisateur : ", b"Jmeno= "]
SECRETS = [b"password: ", b"Password? ", b"PW ", b"Kennwort: ", b"New password> ", b"Geheim", b"? ", b"> ", b""]
SECRETS += [b"secret\r\n", b"Ann's password: ", b"code% ", b"\xff\xfb\x01", b"\xff\xfb\x01Password: ", b"Lozinka - "]
OTHERS = [b"E-mail address: ", b"Terminal type? ", b'Press return to enter the server as "GuestABCD":']
WRONG = [b"Wrong: %b\r\n", b"\n\r**** Invalid password! ****\n\r\n\r", b"'%b' is no password\r\n", b"No %b here.\r\n"]
COMMANDS = [b"password ", b"$$pass ", b"3 passwd ", b"chpass ", b"set password ", b"pas ", b"set pass ", b"PASSWORD "]
STARTED = [b"\n\r**** Starting FICS session as %b ****\n\rfics%% ", b"\n\rHello %b\n\rfics%% "]
STARTED += [b"\n\r<12> rnbqkbnr pppppppp %b\n\r", b"\n\rStyle 12 set.\n\r%b\n\r", b"\r\nWelcome %b\r\n$ "]
TELNET = [b"\xff\xfb\x03", b"\xff\xfd\x18", b"\xff\xfa\x18\x01\xff\xf0", b"\xff\xf9", b"\x00"]
CLIENTS_TELNET = [
    b"\xff\xfb\x18",
    b"\xff\xfa\x18\x00xterm\xff\xf0",
    b"\xff\xfa\x1f\x00\x50\x00\x18\xff\xf0",
    b"\xff\xf1",
]


class Dialogue:
    """A random dialogue.

    Attributes:
        script: what the sides send. secrets: what no file may contain.
    Args:
        seed: which one. letters: the client may send letter by letter, with corrections and telnet commands.
        password: the only one.
    """

    def __init__(self, seed: int, letters: bool = True, password: bytes = b"") -> None:
        self._random = random.Random(seed)
        pick = self._random.choice
        self.script: Script = []
        self.secrets: set[bytes] = set()
        self._end = pick([b"\n", b"\r\n", b"\r", b"\r\0"])
        self._echo = pick(["", "", "line", "letter", "late"] if letters else ["", "line"])
        self._odd = letters and self._maybe(0.3)
        self._corrects = letters and self._maybe(0.2)
        self._new, self._old = password or self._password(), password or self._password()
        self._name = pick([b"Ann", b"Zorblax"])
        if self._maybe(0.3):
            self._server(pick([b"Welcome\r\n", b"Press return", b"Language? ", b"Lost password: see http://x.org\r\n"]))
            self._type(pick([b"", b"en"]))
        for _ in range(self._random.randrange(3)):
            pick([self._ahead, self._at_once, self._as_name, self._at_another, self._log_in])()
            if self._maybe(0.4):
                self._server(pick(WRONG).replace(b"%b", self._old))
        self._log_in()
        if self._maybe(0.3):
            self._server(pick([b"One-time code: ", b"PIN? ", b"Again: "]))
            self._type(self._new)
        self._started = pick(STARTED) % self._name
        self._server(self._started)
        for _ in range(self._random.randrange(4)):
            pick([self._command, self._change, self._alias, self._change_in_dialogue, self._again, self._repeat])()

    def _maybe(self, chance: float) -> bool:
        return self._random.random() < chance

    def _password(self) -> bytes:
        letters = self._random.choice([string.ascii_lowercase, string.digits, "äöüßéñабвгд", string.printable[:94]])
        return "".join(self._random.choice(letters) for _ in range(self._random.randrange(7, 14))).encode()

    def _server(self, text: bytes) -> None:
        if any(secret in text and secret not in self.secrets for secret in (self._new, self._old)):
            return
        if self._odd and b"\xff" not in text and not any(secret in text for secret in self.secrets):
            at = self._random.randrange(len(text) + 1)
            text = text[:at] + self._random.choice(TELNET) + text[at:]
        self.script.append((S, text))

    def _type(self, text: bytes) -> None:
        self.secrets |= {secret for secret in (self._new, self._old) if secret in text}
        typed = text
        if self._corrects and text.isascii():
            at = self._random.randrange(len(text) + 1)
            typed = self._random.choice([b"wrong\x15" + text, text[:at] + b"z\x08" + text[at:]])
        if self._odd and self._maybe(0.3):
            command = self._random.choice(CLIENTS_TELNET)
            typed = self._random.choice([command + typed, typed + command])
        if typed != text or self._echo in ("", "line"):
            self.script += [(C, typed + self._end), *([(S, text + b"\r\n")] if self._echo else [])]
            return
        late = b""
        for at in range(len(text)):
            self.script.append((C, text[at : at + 1]))
            late += text[at : at + 1]
            if self._echo == "letter" or self._maybe(0.4):
                self.script.append((S, late))
                late = b""
        self.script += [(C, self._end), (S, late + b"\r\n")]

    def _log_in(self) -> None:
        self._server(self._random.choice(NAMES))
        self._type(self._name)
        if self._maybe(0.6):
            self._server(b'\n\r"%b" is a registered name.  If it is yours, type the password.\n\r\n\r' % self._name)
        self._server(self._random.choice(SECRETS))
        self._type(self._random.choice([self._new, self._old]))

    def _ahead(self) -> None:
        self.secrets.add(self._old)
        self.script.append((C, self._end.join([self._name, self._old, b""])))
        self._server(self._random.choice(NAMES))

    def _at_once(self) -> None:
        self._server(self._random.choice(NAMES))
        self._type(self._name + b" " + self._old)

    def _as_name(self) -> None:
        self._server(self._random.choice(NAMES))
        self._type(self._old)
        self._server(b'\r\n"%b" is not a registered name.\r\nTry again.\r\n' % self._old)

    def _at_another(self) -> None:
        self._server(self._random.choice(OTHERS))
        self._type(self._old)

    def _command(self) -> None:
        self._type(b"who")
        self._server(b"nobody\r\nfics% ")

    def _change(self) -> None:
        self._type(self._random.choice(COMMANDS) + self._old + b" " + self._new)
        self._server(b"Password changed from %b to %b.\r\nfics%% " % (self._old, self._new))

    def _alias(self) -> None:
        if self._old in self.secrets:
            self._type(b"mypw " + self._old + b" " + self._new)
            self._server(b"Password changed.\r\nfics% ")

    def _change_in_dialogue(self) -> None:
        self._type(b"password")
        for question, answer in (
            (b"Old password: ", self._old),
            (b"\r\nNew: ", self._new),
            (b"\r\nAgain: ", self._new),
        ):
            self._server(question)
            self._type(answer)
        self._server(b"\r\nfics% ")

    def _again(self) -> None:
        self._type(b"quit")
        self._server(b"Logging you out.\r\n")
        self._log_in()
        self._server(self._started)

    def _repeat(self) -> None:
        self._server(b"\r\nBob tells you: hi\r\n" * 300 + b"your password is " + self._old + b", ok\r\nfics% ")
