"""``record`` logs in with the dialogues of real servers, and no file contains the password."""

import asyncio
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from recorder.live import PASSWORD_VARIABLE
from recorder.wire.timeseal import unseal
from tests.live.dialogues import DIALOGUES, SpokenServer, speaking, spoken
from tests.support.effort import long_after
from tests.support.live import Running, in_loop, journalled, running

PASSWORD = "hunTer2x"
SEALS: dict[int | None, list[str]] = {None: [], 1: ["--timeseal"], 2: ["--timeseal2"]}
REGISTERED = {
    "FatICS": "Topalov",
    "Lasker": "Watcher",
    "1.6.2": "Watcher",
    "FICS": "Ann",
    "ICC": "Ann",
    "chessd": "Ann",
    "translated prompts": "Ann",
}
SOME: list[tuple[str, int | None]] = [("FatICS", None), ("Lasker", 1), ("FICS", 2), ("ICC", None), ("chessd", 1)]
OTHERS: list[tuple[str, int | None]] = [("1.6.2", 1), ("translated prompts", None), ("FICS", None), ("FatICS", 2)]
"""Every dialogue is spoken; a seal is around the lines and depends on none of them."""
GUESTS = {"FatICS guest": None, "Lasker guest": None, "1.6.2 guest": None, "FICS guest": "GuestABCD",
          "chess.net guest": "GuestNet", "USCN guest": "GuestUSCN", "chessd guest": "GuestABCD"}  # fmt: skip


def words(server: SpokenServer, folder: Path, *more: object) -> list[object]:
    """Return the command line."""
    return [
        *("record", f"127.0.0.1:{server.port}", "--observe", "rated"),
        *("--journal-dir", folder / "journals", "--db", folder / "a.sqlite", *more),
    ]


async def child_of(run: Running) -> Path:
    """Wait until the recorder has a process for the archive."""
    own = Path("/proc", str(run.process.pid))
    line = read_from([own], "cmdline")
    while True:
        for child in (own / "task" / own.name / "children").read_text().split():
            if read_from([Path("/proc", child)], "cmdline") not in (
                line,
                b"",
            ):  # it no longer has the command line of the recorder
                return Path("/proc", child)
        await asyncio.sleep(0.01)


def read_from(processes: list[Path], what: str) -> bytes:
    """Return what /proc contains about processes that still run."""
    out = b""
    for process in processes:
        try:
            out += (process / what).read_bytes()
        except OSError:
            continue
    return out


@pytest.mark.long_except("FatICS-None")
@pytest.mark.parametrize(
    ("name", "timeseal"),
    [*SOME, *(pytest.param(*pair, marks=pytest.mark.long) for pair in OTHERS)],
)
@in_loop
async def test_a_registered_player(
    name: str, timeseal: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    handle = REGISTERED[name]
    async with (
        speaking(name, timeseal) as server,
        running(
            *words(server, tmp_path, "--user", handle, *SEALS[timeseal]),
            *("--log", tmp_path / "run.log", "--pgn", tmp_path / "games.pgn"),
        ) as run,
    ):
        assert f"Logged in as {handle}." in await run.until("Logged in as")
        environment = read_from([await child_of(run)], "environ")
        everybody = [path.parent for path in Path("/proc").glob("[0-9]*/cmdline")]
        seen = read_from(everybody, "cmdline") + environment
        assert b"PATH=" in environment
        while server.pongs < (0 if timeseal is None else len(DIALOGUES[name])):  # the last may arrive after the welcome
            await asyncio.sleep(0.01)
        assert await run.end(15) == ExitCode.OK
    assert server.lines[:2] == [handle.encode(), PASSWORD.encode()]
    assert server.lines[-1] == b"quit"
    assert server.pongs == (0 if timeseal is None else len(DIALOGUES[name]))
    found = journalled(tmp_path / "journals")
    assert found.received == bytes(server.written)
    (as_sent,) = (line for line in bytes(server.heard).split(b"\n")[:-1] if plain(line) == PASSWORD.encode())
    sent_lines = found.sent.split(b"\n")
    assert b"*" * len(handle) in sent_lines or timeseal is not None
    assert not [line for line in sent_lines if PASSWORD.encode() in plain(line)]
    assert {"run.log", "a.sqlite"} <= {path.name for path in tmp_path.iterdir()}
    for path in tmp_path.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert PASSWORD.encode() not in data
        assert as_sent not in data
    assert as_sent not in found.sent
    assert PASSWORD.encode() not in found.raw + seen + run.talk.encode()


@pytest.mark.long_except("False-1")
@pytest.mark.parametrize("timeseal", [None, 1])
@pytest.mark.parametrize("refused", [False, True])
@in_loop
async def test_a_password_that_the_server_prints_is_redacted(
    refused: bool, timeseal: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    ask = b'\n\r"Ann" is a registered name.\n\r\n\rpassword: '
    secret = PASSWORD.encode()
    then = b"\n\r**** Invalid password! ****\n\r" if refused else b"\n\r**** Starting FICS session as Ann ****\n\r"
    last = b"\n\rlogin: " if refused else b"\n\rfics% "
    dialogue = spoken(
        (b"login: ", b"Ann", False),
        (ask, secret, True),
        secret + then + b"Your password is " + secret + b"." + last,
    )
    async with (
        speaking(dialogue, timeseal) as server,
        running(*words(server, tmp_path, "--user", "Ann", *SEALS[timeseal]), "--log", tmp_path / "run.log") as run,
    ):
        if not refused:
            await run.until("Logged in as Ann.")
            while not server.written.endswith(last):
                await asyncio.sleep(0.01)
        status = await run.end(None if refused else 15)
    assert status == (ExitCode.LOGIN if refused else ExitCode.OK)
    assert secret in server.written
    found = journalled(tmp_path / "journals")  # that of a refused login is removed
    assert not found.raw if refused else len(found.received) > server.written.index(secret) + len(secret)
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or secret not in path.read_bytes()
    assert secret not in found.raw + found.received + run.talk.encode()


def plain(line: bytes) -> bytes:
    """Return the content of a line, with or without a time seal."""
    opened = unseal(line)
    return line if opened is None else opened[0]


@pytest.mark.parametrize("name", long_after(1, GUESTS))
@in_loop
async def test_a_guest(name: str, tmp_path: Path) -> None:
    async with speaking(name) as server, running(*words(server, tmp_path, "--guest", "--no-import")) as run:
        output = await run.until("Logged in as")
        assert await run.end(15) == ExitCode.OK
    assert server.lines[:2] == [b"guest", b""]
    assert GUESTS[name] is None or f"Logged in as {GUESTS[name]}." in output
    assert journalled(tmp_path / "journals").received == bytes(server.written)
