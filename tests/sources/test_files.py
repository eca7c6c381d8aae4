"""Opening, decompressing and finding logs."""

import bz2
import errno
import gzip
import io
import lzma
import random
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from recorder.errors import ExitCode, SourceError
from recorder.sources import find_logs, find_timing, read_blocks
from tests.support.cli import WATCHER, Cli
from tests.support.effort import long_after

DATA = b"fics% \n\r<12> rnbqkbnr\n\r" * 60_000 + random.Random(1).randbytes(50_000)


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


COMPRESSORS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("bzip2", bz2.compress),
    ("xz", lzma.compress),
    ("zstd", zstd),
]


@pytest.mark.parametrize(("name", "compress"), COMPRESSORS)
def test_compression_is_recognised_by_content(tmp_path: Path, name: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "session.log"
    path.write_bytes(compress(DATA[:1000]) + compress(DATA[1000:]))
    reader = read_blocks(path, 10_000)
    blocks = list(reader)
    assert b"".join(blocks) == DATA
    assert reader.problem is None
    assert reader.compression == name
    assert max(map(len, blocks)) <= 20_000


@pytest.mark.parametrize(("name", "compress"), COMPRESSORS)
def test_a_truncated_file_gives_what_can_be_read(tmp_path: Path, name: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "cut.log"
    path.write_bytes(compress(DATA)[:-2000])
    reader = read_blocks(path)
    found = b"".join(reader)
    assert len(found) > 100_000
    assert DATA.startswith(found)
    assert isinstance(reader.problem, SourceError)
    assert str(reader.problem) == (f"{path}: the {name} data can be read only up to byte {len(found)}: it is cut short")


@pytest.mark.parametrize(("name", "compress"), long_after(2, COMPRESSORS))
def test_memory_does_not_grow_with_the_size_of_decompressed_data(
    tmp_path: Path, name: str, compress: Callable[[bytes], bytes]
) -> None:
    size = 64 << 20
    path = tmp_path / "bomb"
    path.write_bytes(compress(bytes(size)))
    assert path.stat().st_size < 100_000
    reader = read_blocks(path)
    tracemalloc.start()
    try:
        assert sum(map(len, reader)) == size
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reader.problem is None
    assert peak < 24 << 20  # at most two blocks and what 256 compressed bytes stand for


@pytest.mark.parametrize(
    ("name", "compress"),
    [
        ("xz", lambda data: lzma.compress(data, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}])),
        (
            "zstd",
            lambda data: (
                zstandard.ZstdCompressor(
                    compression_params=zstandard.ZstdCompressionParameters(window_log=30, enable_ldm=False)
                )
                .compressobj()
                .compress(data)
                or b""
            ),
        ),
    ],
)
def test_a_window_of_a_gigabyte_is_refused(tmp_path: Path, name: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "window"
    path.write_bytes(compress(DATA))
    reader = read_blocks(path)
    assert b"".join(reader) == b""
    assert reader.compression == name
    assert "can be read only up to byte 0" in str(reader.problem)


@pytest.mark.parametrize(("name", "compress"), COMPRESSORS)
def test_zeros_between_and_after_streams_are_no_data(
    tmp_path: Path, name: str, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"padded.{name}"
    path.write_bytes(compress(DATA[:1000]) + bytes(8) + compress(DATA[1000:]) + bytes(1000))
    reader = read_blocks(path)
    assert b"".join(reader) == DATA
    assert reader.problem is None


@pytest.mark.parametrize("after", [b"\n", b"fics% ", b"BZ", b"PK\3\4", b"text\n" * 1000, b"\0\0x", bytes(300) + b"x"])
@pytest.mark.parametrize(("name", "compress"), COMPRESSORS)
def test_what_follows_compressed_data_is_reported(
    tmp_path: Path, name: str, compress: Callable[[bytes], bytes], after: bytes
) -> None:
    path = tmp_path / "longer"
    path.write_bytes(compress(DATA[:500]) + compress(DATA[500:900]) + after)
    reader = read_blocks(path)
    assert b"".join(reader) == DATA[:900]
    assert str(reader.problem) == f"{path}: the {name} data can be read only up to byte 900: other data follows it"


@pytest.mark.parametrize("number", range(1, 24))
@pytest.mark.parametrize(("name", "compress"), COMPRESSORS)
def test_a_second_stream_that_is_cut_is_reported(
    tmp_path: Path, name: str, compress: Callable[[bytes], bytes], number: int
) -> None:
    path = tmp_path / "cut"
    path.write_bytes(compress(DATA[:900]) + compress(DATA[900:1800])[:number])
    reader = read_blocks(path)
    assert DATA[:1800].startswith(b"".join(reader))
    assert f"the {name} data can be read only up to byte" in str(reader.problem)


def test_frames_to_be_skipped_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "parallel.zst"
    skipped = b"\x50\x2a\x4d\x18\4\0\0\0size", b"\x5f\x2a\x4d\x18\1\0\0\0x"
    path.write_bytes(skipped[0] + zstd(DATA[:1000]) + skipped[1] + zstd(DATA[1000:]) + skipped[0])
    reader = read_blocks(path)
    assert b"".join(reader) == DATA
    assert (reader.problem, reader.compression) == (None, "zstd")


def test_a_log_with_bytes_after_its_compressed_data_is_imported_with_a_message(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log.bz2"
    log.write_bytes(bz2.compress(WATCHER.read_bytes()) + b"fics% one more line\n")
    for words in (["import"], ["import", "-n", "-v"], ["convert"]):
        found = cli(*words, log, code=None)
        assert "other data follows it" in found.output, words
        assert found.exit_code == ExitCode.INPUT
    assert len(cli.json("games", "--json")) == 5


def test_damage_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "damaged.gz"
    packed = bytearray(gzip.compress(DATA))
    packed[30_000:30_010] = b"\xff" * 10
    path.write_bytes(packed)
    reader = read_blocks(path)
    found = b"".join(reader)
    assert reader.problem is not None
    assert "the gzip data can be read only up to byte" in str(reader.problem)
    assert len(found) > 100_000


def test_plain_and_empty_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "b").write_bytes(b"")
    assert list(read_blocks(tmp_path / "a", 2)) == [b"ab", b"c"]
    assert list(read_blocks(tmp_path / "b")) == []


@pytest.mark.parametrize("started", [False, True])
def test_a_reader_that_is_left_early_lets_go_of_its_file(tmp_path: Path, started: bool) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    reader = read_blocks(tmp_path / "a", 1)
    if started:
        next(reader)
    reader.close()
    assert reader._raw.closed
    assert list(reader) == []


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nowhere\.log: cannot be read: No such file"):
        read_blocks(tmp_path / "nowhere.log")


def test_standard_input_may_be_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(b"fics% "))))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert b"".join(read_blocks("-")) == b"fics% "


def test_finding_logs(tmp_path: Path) -> None:
    names = [
        "b/two.log",
        "b/two.log.timing",
        "a.log.gz",
        "games.pgn",
        "games.CSV",
        "x.db",
        ".hidden",
        "c/typescript",
        "c/timing",
        "z.time",
    ]
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"0.5 3\n" if "tim" in path.name else b"text\n")
    (tmp_path / "z.time").write_bytes(b"fics% a log with an odd name\n")
    skipped: list[Path] = []
    found = [str(path.relative_to(tmp_path)) for path in find_logs([tmp_path, tmp_path / "a.log.gz"], skipped)]
    assert found == ["a.log.gz", "b/two.log", "c/typescript", "games.pgn", "z.time"]
    assert [path.name for path in skipped] == [".hidden", "games.CSV", "x.db"]
    assert [str(path) for path in find_logs(["-", tmp_path / "games.pgn"])] == ["-", str(tmp_path / "games.pgn")]
    assert find_timing(tmp_path / "b/two.log") == tmp_path / "b/two.log.timing"
    assert find_timing(tmp_path / "c/typescript") == tmp_path / "c/timing"
    assert find_timing(tmp_path / "z.time") is None
    with pytest.raises(SourceError, match="no such file or folder"):
        list(find_logs([tmp_path / "nowhere"]))


def test_a_link_that_cannot_be_followed_hides_no_log(tmp_path: Path) -> None:
    (tmp_path / "a-link").symlink_to("x" * 300)  # too long a name for any file: an error, not only nothing there
    (tmp_path / "b.log").write_bytes(b"text\n")
    link, log = find_logs([tmp_path])
    assert (link.name, log.name) == ("a-link", "b.log")
    with pytest.raises(SourceError, match="a-link"):
        list(read_blocks(link))
    with pytest.raises(SourceError, match="a-link: cannot be read: File name too long"):
        list(find_logs([link]))


def test_a_folder_that_cannot_be_listed_hides_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked, log = tmp_path / "locked", tmp_path / "z.log"
    locked.mkdir()
    log.write_bytes(b"text\n")
    list_folder = Path.iterdir

    def refused(folder: Path) -> Iterator[Path]:
        if folder == locked:
            raise PermissionError(errno.EACCES, "Permission denied")
        return list_folder(folder)

    monkeypatch.setattr(Path, "iterdir", refused)  # root may list every folder
    assert list(find_logs([tmp_path])) == [locked, log]
    with pytest.raises(SourceError, match="locked: cannot be read"):
        list(read_blocks(locked))
    with pytest.raises(SourceError, match="locked: cannot be listed: Permission denied"):
        list(find_logs([locked]))


@pytest.mark.parametrize(
    "words",
    [
        ["import"],
        ["follow"],
        ["convert"],
        ["journal", "check"],
        ["journal", "scrub", "-o", "x"],
        ["explain"],
        ["replay", "terminal"],
    ],
)
def test_a_name_that_no_file_can_have_is_reported(words: list[str], tmp_path: Path) -> None:
    name = "a" * 300
    result = Cli(tmp_path / "a.sqlite")(*words, name, code=ExitCode.INPUT)
    assert f"{name}: cannot be read: File name too long" in result.stderr
