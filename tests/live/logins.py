"""Login dialogues in which a guard that counts lines and prompts goes wrong: what each side sends, in this order.

``S`` is what the server sends, ``C`` what the client types. In the texts ``PW`` is the password, ``OLD`` a wrong one,
``CODE`` a one-time code. Origin: written for these tests after the servers' dialogues, and their variations.
"""

from collections.abc import Iterator

SECRETS = {b"PW": b"Sw0rdfish-Xq77", b"OLD": b"trustno1Guess", b"CODE": b"493817 Zebra", b"WORD": b"swordfish"}
S, C = "server", "client"
WILL, WONT = b"\xff\xfb\x01", b"\xff\xfc\x01"
IN = b"\n\r**** Starting FICS session as Ann ****\n\r\n\rfics% "
ASK = b'\n\r"Ann" is a registered name.  If it is yours, type the password.\n\r\n\rpassword: '
QUIET = b"\n\r" + b"_" * 40 + b"\n\rBem-vindo\n\rfics% "

Script = list[tuple[str, bytes]]

NAME_PROMPTS = [
    *(b"Username: ", b"User name: ", b"Name: ", b"name> ", b"Enter your handle: ", b"Handle? ", b"Who are you? "),
    *(
        b"Please identify yourself: ",
        b"Account: ",
        b"Nick: ",
        b"Benutzername: ",
        b"Nome: ",
        b"ID> ",
        b"",
        b"\xd0\x98\xd0\xbc\xd1\x8f: ",
    ),
]
PASSWORD_PROMPTS = [
    *(b"Password: ", b"Password for Ann: ", b"Ann's password: ", b"Passwd> ", b"Ann, what is your secret? ", b"PIN: "),
    *(
        b"Kennwort: ",
        b"Senha: ",
        b"Contrase\xc3\xb1a: ",
        b"Mot de passe : ",
        b"\xd0\x9f\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c: ",
    ),
    *(b"\xe5\xaf\x86\xe7\xa0\x81: ", b"And now? ", b"> ", b"pw ", b"", b"Enter the password:\r\n", b"Losung\r\n"),
]


def _all() -> Iterator[tuple[str, Script]]:
    for number, prompt in enumerate(NAME_PROMPTS):
        yield f"name prompt {number}", [(S, prompt), (C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, IN)]
        yield f"name prompt {number}, no hint", [(S, prompt), (C, b"Ann\n"), (S, b"? "), (C, b"PW\n"), (S, QUIET)]
    for number, prompt in enumerate(PASSWORD_PROMPTS):
        yield f"password prompt {number}", [(S, b"login: "), (C, b"Ann\n"), (S, prompt), (C, b"PW\n"), (S, IN)]
        yield (
            f"password prompt {number}, echoed",
            [
                *((S, b"login: "), (C, b"Ann\r"), (S, b"Ann\r\n" + prompt), (C, b"PW\r"), (S, b"PW\r\n" + IN)),
            ],
        )
    yield from {
        "return before the login": [
            *((S, b"Press return to continue"), (C, b"\n"), (S, b"\n\rlogin: "), (C, b"Ann\n"), (S, ASK), (C, b"PW\n")),
            (S, IN),
        ],
        "two questions before the login": [
            *((S, b"Language (de/en)? "), (C, b"en\n"), (S, b"Terminal type: "), (C, b"vt100\n")),
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, IN)),
        ],
        "blank line before the prompt": [(C, b"\n"), (S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, IN)],
        "many blank lines": [
            (C, b"\n\n\r\n\n"),
            (S, b"login: login: "),
            (C, b"Ann\n"),
            (S, ASK),
            (C, b"PW\n"),
            (S, IN),
        ],
        "one-time code": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, b"\n\rEnter your one-time code: ")),
            *((C, b"CODE\n"), (S, IN)),
        ],
        "one-time code after the greeting": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, IN + b"\n\rEnter your one-time code: ")),
            *((C, b"CODE\n"), (S, b"\n\rfics% ")),
        ],
        "code sent by mail, in an unknown prompt": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, b"\n\rWe have sent you a mail.\n\r# ")),
            *((C, b"CODE\n"), (S, IN)),
        ],
        "typed ahead": [(C, b"Ann\nPW\nset style 12\n"), (S, b"login: "), (S, ASK), (S, IN)],
        "typed ahead, no greeting": [(C, b"Ann\nPW\nmoves\n"), (S, b"login: "), (S, ASK), (S, QUIET)],
        "typed ahead, then wrong": [
            *((C, b"Ann\nOLD\nAnn\nPW\nmoves\n"), (S, b"login: "), (S, ASK)),
            *((S, b"\n\r**** Invalid password! ****\n\r\n\rlogin: "), (S, ASK), (S, IN)),
        ],
        "wrong, then right": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK + WILL), (C, b"OLD\n")),
            *(
                (S, WONT + b"\n\r**** Invalid password! ****\n\r\n\rlogin: "),
                (C, b"Ann\n"),
                (S, ASK),
                (C, b"PW\n"),
                (S, IN),
            ),
        ],
        "wrong, asked again without the name": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"OLD\n"), (S, b"\n\rIncorrect. Try again: ")),
            *((C, b"PW\n"), (S, IN)),
        ],
        "wrong, repeated by the server": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"OLD\n"), (S, b"\n\r'OLD' is wrong.\n\rpassword: ")),
            *((C, b"PW\n"), (S, b"\n\rPW is right." + IN)),
        ],
        "password as the name": [
            *((S, b"login: "), (C, b"PW\n"), (S, b"\n\rSorry, names can only consist of letters.\n\r\n\rlogin: ")),
            *((C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, IN)),
        ],
        "password as the name, which the server repeats": [
            *((S, b"login: "), (C, b"WORD\n")),
            (S, b'\n\r"WORD" is not a registered name.  You may play unrated games as a guest.\n\r'),
            *((S, b'\n\rPress return to enter the FICS as "WORD":'), (C, b"Ann\n"), (S, b"\n\r\n\rlogin: ")),
            *((C, b"Ann\n"), (S, ASK), (C, b"WORD\n"), (S, IN)),
        ],
        "password as the name of another player": [
            *((S, b"login: "), (C, b"WORD\n"), (S, ASK.replace(b"Ann", b"WORD")), (C, b"\n"), (S, b"\n\r\n\rlogin: ")),
            *((C, b"Ann\n"), (S, ASK), (C, b"WORD\n"), (S, IN)),
        ],
        "name and password on one line": [
            *((S, b"login: "), (C, b"Ann PW\n"), (S, b"\r\n**** Starting ICC session as Ann ****\r\naics% ")),
        ],
        "options, name and password on one line": [
            *(
                (S, b"login: "),
                (C, b"level1=5 Ann PW\n"),
                (S, b"\r\nPW? ok\r\n**** Starting ICC session as Ann ****\r\naics% "),
            ),
        ],
        "ICC's datagrams": [
            *((S, b"login: "), (C, b"level1=13\nAnn\n"), (S, b"\x19(69 5 {Ann is a registered name.}\x19)")),
            *((C, b"PW\n"), (S, b"\x19[0 *\r\n\x19(0 Ann {}\x19)\x19(114 PW Ann\x19)\x19]"), (C, b"set-2 24 1\n")),
        ],
        "guest": [
            *((S, b"login: "), (C, b"guest\n"), (S, b'\n\rPress return to enter the server as "GuestABCD":\n\r')),
            *((C, b"\n"), (S, b"\n\r**** Starting FICS session as GuestABCD(U) ****\n\rfics% ")),
        ],
        "guest who types a password all the same": [
            *((S, b"login: "), (C, b"guest\n"), (S, b'\n\rPress return to enter the server as "GuestABCD":\n\r')),
            *((C, b"PW\n"), (S, b"\n\r**** Starting FICS session as GuestABCD(U) ****\n\rfics% ")),
        ],
        "dashes": [(S, b"login: "), (C, b"--\n"), (S, b"\n\rlogin: "), (C, b"Ann -- PW\n"), (S, IN)],
        "WILL ECHO from the beginning": [
            *(
                (S, WILL + b"\xff\xfb\x03Welcome\r\nlogin: "),
                (C, b"\xff\xfd\x01Ann\r\0"),
                (S, b"Ann\r\n? "),
                (C, b"PW\r\0"),
            ),
            (S, IN),
        ],
        "WILL ECHO in the middle of the prompt": [
            *((S, b"login: "), (C, b"Ann\n"), (S, b"Geheim" + WILL + b"nis "), (C, b"PW\n"), (S, WONT + IN)),
        ],
        "telnet commands within the password": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"PW\xff\xfe\x01\xff\xf1\n"), (S, IN)),
        ],
        "corrected by erasing": [
            *((S, b"login: "), (C, b"Anx\x08n\n"), (S, ASK), (C, b"PWx\x08\n"), (S, b"\n\rPW" + IN)),
        ],
        "line ends of all kinds": [
            (S, b"login: "),
            (C, b"Ann\r\0"),
            (S, ASK),
            (C, b"PW\r"),
            (S, IN),
            (C, b"\nwho\r\n"),
        ],
        "no line end": [(S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"PW")],
        "never logged in": [
            (S, b"login: "),
            (C, b"Ann\n"),
            (S, ASK),
            (C, b"PW\n"),
            (S, b"\n\rThe server is full.\n\r"),
        ],
        "server that prints nothing": [(C, b"Ann\n"), (C, b"PW\n")],
        "prompt of its own": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, b"\n\rHello\n\rmine% "), (C, b"who\n")),
            (S, b"nobody\n\rmine% "),
        ],
        "banner with a prompt in it": [
            (S, b"fics% is the prompt of this server\n\rfics% Username: "),
            *((C, b"Ann\n"), (S, b"? "), (C, b"PW\n"), (S, IN)),
        ],
        "banner about passwords": [
            (S, b"Never give your password to anybody: not even to us.\n\rlogin: "),
            *((C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, IN)),
        ],
        "registration": [
            *(
                (S, b"login: "),
                (C, b"new\n"),
                (S, b"\n\rChoose a handle: "),
                (C, b"Ann\n"),
                (S, b"E-mail: "),
                (C, b"a@b.org\n"),
            ),
            *((S, b"Choose a password: "), (C, b"PW\n"), (S, b"Again: "), (C, b"PW\n"), (S, b"\n\rWelcome." + IN)),
        ],
        "registration after the login": [
            *(
                (S, b"login: "),
                (C, b"guest\n"),
                (S, b"\n\r**** Starting session as GuestA ****\n\rfics% "),
                (C, b"register\n"),
            ),
            *((S, b"Name: "), (C, b"Ann\n"), (S, b"Choose a password: "), (C, b"PW\n"), (S, b"Repeat: "), (C, b"PW\n")),
            (S, b"\n\rAdded: >Ann< >A< >a@b.org< >PW<\n\rfics% "),
        ],
        "password changed in a dialogue": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"OLD\n"), (S, IN), (C, b"password\n"), (S, b"Old: ")),
            *(
                (C, b"OLD\n"),
                (S, b"\r\nNew: "),
                (C, b"PW\n"),
                (S, b"\r\nNew again: "),
                (C, b"PW\n"),
                (S, b"\r\nfics% "),
            ),
        ],
        "password changed in a dialogue, typed ahead": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"OLD\n"), (S, IN), (C, b"chpass\nOLD\nPW\nPW\nwho\n")),
            (S, b"Old: New: Again: \r\nfics% "),
        ],
        "password changed while boards come": [
            *(
                (S, b"login: "),
                (C, b"Ann\n"),
                (S, ASK),
                (C, b"OLD\n"),
                (S, IN),
                (C, b"passwd\n"),
                (S, b"New password: "),
            ),
            *(
                (S, b"\n\rfics% \n\r<12> rnbqkbnr pppppppp\n\rfics% "),
                (C, b"PW\n"),
                (S, b"Password changed to PW.\n\rfics% "),
            ),
        ],
        "password changed with arguments": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"OLD\n"), (S, IN), (C, b"password OLD PW\n")),
            (S, b'Password changed from "OLD" to "PW".\n\rfics% '),
            *(
                (C, b"set password PW\n$$chpass OLD PW\n3 passw OLD PW\nsu Bob PW\nlogin Ann PW\nset passwd PW\n"),
                (S, b"fics% "),
            ),
        ],
        "password given as a command": [
            *(
                (S, b"login: "),
                (C, b"Ann\n"),
                (S, ASK),
                (C, b"PW\n"),
                (S, IN),
                (C, b"PW\n"),
                (S, b"PW: Command not found.\n\rfics% "),
            ),
            *((C, b"alias x tell bob PW\n"), (S, b"fics% ")),
        ],
        "WILL ECHO after the login": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"OLD\n"), (S, IN), (C, b"secure\n"), (S, b"\n\r" + WILL)),
            *((C, b"PW\n"), (S, WONT + b"\n\rfics% ")),
        ],
        "another login on the connection": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"OLD\n"), (S, IN), (C, b"quit\n")),
            *((S, b"Logging you out.\n\rWho goes there? "), (C, b"Bob\n"), (S, b"And? "), (C, b"PW\n"), (S, QUIET)),
        ],
        "another login, typed ahead": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"OLD\n"), (S, IN), (C, b"date\nquit\nBob\nPW\nwho\n")),
            *((S, b"fics% Logging you out.\n\r"), (S, b"login: "), (S, ASK), (S, QUIET)),
        ],
        "logged out by the server": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"OLD\n"), (S, IN)),
            (S, b"\n\r**** Auto-logout because you were idle more than 60 minutes. ****\n\r\n\rUser? "),
            *((C, b"Ann\n"), (S, b"Key? "), (C, b"PW\n"), (S, QUIET)),
        ],
        "password of three letters, echoed": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"q7z\n"), (S, b"q7z\r\n" + IN), (C, b"password q7z PW\n")),
        ],
        "passphrase": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"CODE PW\n"), (S, b"CODE PW? wrong\r\nlogin: ")),
            *((C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, IN)),
        ],
        "password of many bytes": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"x" * 5000 + b"PW\n"), (S, b"too long\r\nlogin: ")),
            *((C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, IN)),
        ],
        "password changed before the login shows": [
            *(
                (S, b"login: "),
                (C, b"Ann\n"),
                (S, ASK),
                (C, b"OLD\n"),
                (S, b"\r\nWelcome\r\n$ "),
                (C, b"chpass CODE PW\n"),
            ),
            (S, b"Password changed from CODE to PW.\r\n$ "),
        ],
        "password as the name, printed in a later line": [
            *(
                (S, b"login: "),
                (C, b"PW\n"),
                (S, b"No such player.\r\nlogin: "),
                (C, b"Ann\n"),
                (S, ASK),
                (C, b"OLD\n"),
                (S, IN),
            ),
            (S, b"x" * 70 + b"\r\n" + b"fics% nothing\r\n" * 500 + b"Your password is PW, keep it.\r\nfics% "),
        ],
        "printed in a later line": [
            *((S, b"login: "), (C, b"Ann\n"), (S, ASK), (C, b"PW\n"), (S, IN)),
            (S, b"x" * 70 + b"\r\n" + b"fics% nothing\r\n" * 500 + b"Your password is PW, keep it.\r\nfics% "),
        ],
    }.items()


def _filled(text: bytes) -> bytes:
    for word, secret in SECRETS.items():
        text = text.replace(word, secret)
    return text


LOGINS: dict[str, Script] = {name: [(side, _filled(text)) for side, text in script if text] for name, script in _all()}
"""Name of the dialogue → what the sides send."""
FORBIDDEN = (*SECRETS.values(), b"Zebra", b"q7z")
"""Texts that no file may contain."""
