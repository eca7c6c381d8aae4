"""A chess server for tests: real login dialogues, a script of what a real server printed, and faults on demand.

It speaks with asyncio on loopback. Clients may seal their lines; what they sent is kept in both forms.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from recorder.replay.server.login import WILL_ECHO, WONT_ECHO, guest_name
from recorder.wire.controls import TelnetFilter
from recorder.wire.timeseal import as_typed
from tests.support.script import Fault, Hear, Say, Step, Wait


@dataclass(frozen=True, slots=True)
class Manners:
    """The words of one kind of server; ``{name}`` stands for the handle.

    Attributes:
        banner: before the first prompt.
        login: asks for the name.
        registered: the name belongs to an account; the password prompt follows.
        password: asks for the password.
        guest: the name belongs to no account; an empty line enters. ``{name}`` is made up if ``guest`` was typed.
        guest_mark: stands behind a guest's name in ``welcome``.
        wrong: the password was not it; the login prompt follows.
        bad_name: the name cannot be one; the login prompt follows.
        welcome: sent after a successful login.
        prompt: stands before every answer.
        unknown: the answer to a command that it does not know.
        echo_after: telnet's WILL ECHO comes behind the password prompt, else before it.
        line_end: of its lines; the texts here are written with a bare ``\\n``.
    """

    banner: str
    login: str = "login: "
    registered: str = (
        '\n"{name}" is a registered name.  If it is yours, type the password.\n'
        "If not, just hit return to try another name.\n\n"
    )
    password: str = "password: "
    guest: str = (
        '\nLogging you in as "{name}"; you may use this name to play unrated games.\n'
        '(After logging in, do "help register" for more info on how to register.)\n\n'
        'Press return to enter the server as "{name}":\n'
    )
    guest_mark: str = "(U)"
    wrong: str = "\n**** Invalid password! ****\n\n"
    bad_name: str = "\nSorry, names can only consist of lower and upper case letters.  Try again.\n"
    welcome: str = "\n**** Starting FICS session as {name}{mark} ****\n\n"
    prompt: str = "fics% "
    unknown: str = "{command}: Command not found.\n"
    echo_after: bool = True
    line_end: str = "\n\r"

    def encode(self, text: str, **words: str) -> bytes:
        """A text as this server sends it."""
        for word, value in words.items():
            text = text.replace(f"{{{word}}}", value)
        return text.replace("\n", self.line_end).encode("latin-1")


FICS: Final = Manners("\nA server that talks like freechess.org.\n\n", echo_after=False)

FATICS: Final = Manners(
    "A server that talks like FatICS.\n\n",
    guest='\n"{name}" is not a registered name.  You may play unrated games as a guest.\n'
    '(After logging in, do "help register" for more info on how to register.)\n\n'
    'Press return to enter the server as "{name}":\n',
    wrong="\n*** Invalid password! ***\n\n",
)

OLDER: Final = Manners(
    '\nA server of the older kind.\n\nIf you are not a registered player enter the login name "guest"\n',
    guest='\n"{name}" is not a registered name.  You may use this name to play unrated games.\n'
    '(After logging in, do "help register" for more info on how to register.)\n\n'
    'Press return to enter the server as "{name}":\n',
    wrong="\n\nInvalid password!\n\n",
    welcome="\n" + "_" * 74 + "\nDo 'help' for a list of the commands that are available.\n\n",
    echo_after=False,
)
"""Says no ``**** Starting``: its first prompt tells that one is in."""

CHESS_NET: Final = Manners(
    "\nA server that talks like chess.net.\n\n",
    guest='\nLogging you in as "{name}".\n\nPress return to enter chess.net as "{name}":\n',
    welcome="\n**** Starting session as {name}{mark} ****\n\n",
)

ICC: Final = Manners(
    "\nA server that talks like chessclub.com.\n\n",
    registered="\n",
    guest="\nYour name for this session will be {name}\n\n",
    guest_mark="",
    wrong="\nInvalid password.\n\n",
    welcome="\n**** Starting ICC session as {name} ****\n\n",
    prompt="aics% ",
    unknown="No such command ({command}).\n",
    line_end="\r\n",
)

MANNERS: Final = {"fics": FICS, "fatics": FATICS, "older": OLDER, "chess.net": CHESS_NET, "icc": ICC}
"""By the word for each kind."""


_NO_LINGER: Final = struct.pack("ii", 1, 0)
_QUIT: Final = (b"quit", b"exit", b"logout")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What a server does with everybody who connects.

    Attributes:
        manners: its words.
        accounts: passwords by handle; every other name is a guest's.
        refusal: printed after a right password or a guest's return, in place of a welcome; then it closes.
        script: what it does after a client has logged in.
        answers: to commands, without the prompt that follows them.
        speed: divides the waits of the script; 0: it does not wait.
    """

    manners: Manners = FICS
    accounts: Mapping[str, str] = field(default_factory=dict)
    refusal: str | None = None
    script: Sequence[Step] = ()
    answers: Mapping[bytes, bytes] = field(default_factory=dict)
    speed: float = 0


class Connection:
    """One client of the server.

    Attributes:
        written: the bytes that were handed to the network.
        heard: the bytes that came.
        lines: what they say, unsealed, without line ends and telnet commands.
        handle: who is in, or None.
        done: set when the script is at its end.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dialogue: Dialogue) -> None:
        self._reader = reader
        self._writer = writer
        self._dialogue = dialogue
        self._listening = asyncio.Event()
        self._listening.set()
        self._new_line = asyncio.Condition()
        self._silent = False
        self._next = 0
        self.written = bytearray()
        self.heard = bytearray()
        self.lines: list[bytes] = []
        self.handle: str | None = None
        self.done = asyncio.Event()

    async def say(self, data: bytes) -> None:
        """Send bytes, as far as a fault does not keep the server from it."""
        if self._silent:
            return
        self.written += data
        self._writer.write(data)
        await self._writer.drain()

    def fail(self, fault: Fault) -> None:
        """Do something that a client must live with."""
        transport = self._writer.transport
        if fault is Fault.CLOSE:
            self._writer.close()
        elif fault is Fault.RESET:
            connection: socket.socket = self._writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            transport.abort()
        elif fault is Fault.END:
            self._writer.write_eof()
        if fault is not Fault.DEAF:
            self._silent = True
        if fault in (Fault.DEAF, Fault.HALF_OPEN):
            self._listening.clear()
            if isinstance(transport, asyncio.ReadTransport):
                transport.pause_reading()

    async def serve(self) -> None:
        """Let the client in, play the script and answer commands until it leaves."""
        listening = asyncio.create_task(self._listen())
        talking = asyncio.create_task(self._talk())
        try:
            await asyncio.wait((listening, talking), return_when=asyncio.FIRST_COMPLETED)
            if talking.done() and talking.exception() is None:
                await listening
        finally:
            for task in (listening, talking):
                task.cancel()
            await asyncio.gather(listening, talking, return_exceptions=True)
            self._writer.close()

    async def _listen(self) -> None:
        rest, telnet = b"", TelnetFilter()
        while data := await self._reader.read(1 << 16):
            await self._listening.wait()
            text = b"".join(piece for piece, _ in telnet.receive(data, len(self.heard)))
            self.heard += data
            *lines, rest = (rest + text).split(b"\n")
            async with self._new_line:
                self.lines += [line.rstrip(b"\r") for line in map(as_typed, lines) if line is not None]
                self._new_line.notify_all()

    async def _talk(self) -> None:
        if not await self._log_in():
            return
        playing = asyncio.create_task(self._play())
        answering = asyncio.create_task(self._answer())
        try:
            done, _ = await asyncio.wait((playing, answering), return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for task in (playing, answering):
                task.cancel()
            await asyncio.gather(playing, answering, return_exceptions=True)

    async def _log_in(self) -> bool:
        manners = self._dialogue.manners
        await self.say(manners.encode(manners.banner))
        while True:
            await self.say(manners.encode(manners.login))
            name, _, password = (await self._line()).decode("latin-1").strip().partition(" ")
            if not name.isascii() or not name.isalpha():
                await self.say(manners.encode(manners.bad_name))
                continue
            known = {handle.lower(): handle for handle in self._dialogue.accounts}.get(name.lower())
            if known is None:
                self.handle = await self._enter_as_guest(name)
                break
            if not password:
                password = await self._ask_password(known)
            if password == self._dialogue.accounts[known]:
                self.handle = known
                break
            await self.say(manners.encode(manners.wrong))
        if self._dialogue.refusal is not None:
            await self.say(manners.encode(self._dialogue.refusal, name=self.handle))
            self.fail(Fault.CLOSE)
            return False
        mark = "" if known else manners.guest_mark
        await self.say(manners.encode(manners.welcome + manners.prompt, name=self.handle, mark=mark))
        return True

    async def _ask_password(self, name: str) -> str:
        manners = self._dialogue.manners
        asked = manners.encode(manners.registered, name=name)
        prompt = manners.encode(manners.password)
        await self.say(asked + (prompt + WILL_ECHO if manners.echo_after else WILL_ECHO + prompt))
        answer = await self._line()
        await self.say(WONT_ECHO)
        return answer.decode("latin-1")

    async def _enter_as_guest(self, name: str) -> str:
        manners = self._dialogue.manners
        if name.lower() in ("guest", "g"):
            name = guest_name(self._writer.get_extra_info("peername")[1])
        await self.say(manners.encode(manners.guest, name=name))
        if "Press return" in manners.guest:
            await self._line()
        return name

    async def _play(self) -> None:
        heard = self._next
        for step in self._dialogue.script:
            if isinstance(step, Wait):
                await asyncio.sleep(step.ms / 1000 / self._dialogue.speed if self._dialogue.speed else 0)
            elif isinstance(step, Say):
                await self.say(step.data)
            elif isinstance(step, Hear):
                heard = await self._until_heard(step.line, heard)
            else:
                self.fail(step)
        self.done.set()

    async def _answer(self) -> None:
        manners = self._dialogue.manners
        prompt = manners.encode(manners.prompt)
        expected = {step.line for step in self._dialogue.script if isinstance(step, Hear)}
        while True:
            line = await self._line()
            if line in expected:
                continue  # the script answers
            if line in _QUIT:
                self.fail(Fault.CLOSE)
                return
            answer = self._dialogue.answers.get(line)
            if answer is None:
                word = line.decode("latin-1").partition(" ")[0]
                answer = manners.encode(manners.unknown, command=word) if word else b""
            await self.say(answer + prompt)

    async def _line(self) -> bytes:
        """The next line that was not read yet."""
        async with self._new_line:
            await self._new_line.wait_for(lambda: self._next < len(self.lines))
            self._next += 1
            return self.lines[self._next - 1]

    async def _until_heard(self, line: bytes, begin: int) -> int:
        """Wait for a line that is not one of the first ``begin``; how many there are up to it."""
        async with self._new_line:
            await self._new_line.wait_for(lambda: line in self.lines[begin:])
            return self.lines.index(line, begin) + 1


class ScriptedServer:
    """Listens on loopback while it is entered as an asynchronous context.

    Args:
        dialogue: what it does; or what makes this from the number of a connection, counted from 0.

    Attributes:
        port: where it listens.
        connections: all clients so far, the oldest first.
    """

    def __init__(self, dialogue: Dialogue | Callable[[int], Dialogue]) -> None:
        self._dialogue = dialogue
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._came = asyncio.Condition()
        self.port = 0
        self.connections: list[Connection] = []

    async def __aenter__(self) -> ScriptedServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def connection(self, number: int = 0) -> Connection:
        """Wait for a client, counted from 0."""
        async with self._came:
            await self._came.wait_for(lambda: len(self.connections) > number)
            return self.connections[number]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        dialogue = self._dialogue
        try:
            async with self._came:
                connection = Connection(
                    reader, writer, dialogue if isinstance(dialogue, Dialogue) else dialogue(len(self.connections))
                )
                self.connections.append(connection)
                self._came.notify_all()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await connection.serve()
        finally:
            self._tasks.discard(task)
            writer.transport.abort()
