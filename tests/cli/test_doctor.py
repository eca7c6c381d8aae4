"""``doctor``: what it finds, what it advises, and when it fails."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from recorder.cli import doctor
from tests.support.cli import WATCHER, Cli


def states(cli: Cli, *words: object, code: int = 0) -> dict[str, tuple[str, str, str | None]]:
    found = cli.json("doctor", "--json", *words, code=code)
    return {each["what"]: (each["state"], each["found"], each["remedy"]) for each in found}


def test_an_archive_is_counted_and_a_broken_one_fails(cli: Cli) -> None:
    assert states(cli)["archive"][0] == "off"
    cli("import", WATCHER)
    state, found, remedy = states(cli)["archive"]
    assert (state, remedy) == ("ok", None)
    assert str(cli.archive) in found
    cli.archive.write_bytes(b"no database" * 100)
    state, found, remedy = states(cli, code=1)["archive"]
    assert state == "fail"
    assert remedy
    output = cli("doctor", code=1).stdout
    assert "\nfail  archive: " in output
    assert "\n      → " in output


def test_what_is_not_installed_says_how_to_get_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.EXTRAS, "s3", ("no_such_module",))
    assert states(cli)["s3"] == ("off", "no no_such_module", "pip install 'ics-recorder[s3]'")


def test_a_wrong_configuration_is_reported_as_any_other_fault(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[games\n")
    assert '"configuration", "found": "' in cli("--config", path, "doctor", "--json", code=1).stdout
    path.write_text("[games]\nwide = true\n")
    assert cli("--config", path, "doctor").exit_code == 0


@contextlib.contextmanager
def serving(words: bytes) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(words)

        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


@pytest.mark.parametrize(("words", "state"), [(b"login: ", "ok"), (b"", "fail")])
def test_a_server_is_asked_only_by_name(cli: Cli, words: bytes, state: str) -> None:
    with serving(words) as port:
        found = states(cli, "--server", f"127.0.0.1:{port}", code=int(state == "fail"))
    assert found[f"server 127.0.0.1:{port}"][0] == state
    assert not [what for what in states(cli) if what.startswith("server")]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert states(cli, "--server", f"127.0.0.1:{port}", code=1)[f"server 127.0.0.1:{port}"][0] == "fail"
    assert "--server" in cli("doctor", "--server", "a b", code=2).stderr
