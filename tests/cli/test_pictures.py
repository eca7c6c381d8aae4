"""``export gif`` and ``export png``: a picture of a game, or one sentence why there is none."""

import stat
import sys
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from recorder.text import byte_size
from tests.support.cli import Cli

_FFMPEG = """#!{python}
import sys
data = sys.stdin.buffer.read()
if {fails}:
    sys.exit("broken codec")
assert data.startswith(b"GIF89a")
open(sys.argv[-1], "wb").write(b"film")
"""


def _ffmpeg(folder: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool) -> None:
    program = folder / "ffmpeg"
    program.write_text(_FFMPEG.format(python=sys.executable, fails=fails))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))


def test_a_game_becomes_a_file(filled: Cli, tmp_path: Path) -> None:
    target = tmp_path / "game.gif"
    said = filled("export", "gif", "last", "-o", target, "--size", 120, "--from", 1, "--to", 4).stderr
    assert said == f"Wrote GIF, {byte_size(target.stat().st_size)}, to {target}.\n"
    assert target.read_bytes().startswith(b"GIF89a")
    assert "--force" in filled("export", "gif", "last", "-o", target, code=ExitCode.OUTPUT).stderr
    still = filled("export", "png", "last", "--ply", 2, "--size", 120).stdout_bytes
    assert still.startswith(b"\x89PNG")
    assert filled("export", "png", "last", "--size", 120, "--flip").stdout_bytes != still
    named = ("export", "gif", "last", "--size", 120, "--to", 2, "--format", "webp")
    assert filled(*named).stdout_bytes[8:12] == b"WEBP"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("gif", "zz"), ExitCode.ARCHIVE, "'zz' is not a game"),
        (("png", "last", "--ply", 500), ExitCode.OUTPUT, "500 is none of them"),
        (("gif", "last", "-o", "game.avi"), ExitCode.USAGE, ".avi is no format"),
        (("png", "last", "-o", "game.gif"), ExitCode.USAGE, ".gif is no format"),
        (("gif", "last", "--size", 20), ExitCode.USAGE, "120"),
    ],
)
def test_bad_input_is_one_sentence(filled: Cli, words: tuple[object, ...], code: ExitCode, sentence: str) -> None:
    result = filled("export", *words, code=code)
    assert sentence in result.stderr
    assert result.stdout == ""


def test_without_pillow(filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "exporters.moving_picture", raising=False)
    monkeypatch.setitem(sys.modules, "PIL", None)
    target = tmp_path / "game.gif"
    said = filled("export", "gif", "last", "-o", target, code=ExitCode.OUTPUT).stderr
    assert said == "Error: Pictures of games need Pillow: pip install 'ics-recorder[gif]'.\n"
    assert not target.exists()


def test_mp4_is_made_by_ffmpeg(filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("export", "gif", "last", "--size", 120, "--to", 2, "-o", tmp_path / "game.mp4")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert "needs the program ffmpeg" in filled(*words, code=ExitCode.OUTPUT).stderr
    _ffmpeg(tmp_path, monkeypatch, fails=True)
    assert "ffmpeg could not make the MP4: broken codec" in filled(*words, code=ExitCode.OUTPUT).stderr
    assert not (tmp_path / "game.mp4").exists()
    _ffmpeg(tmp_path, monkeypatch, fails=False)
    filled(*words)
    assert (tmp_path / "game.mp4").read_bytes() == b"film"
