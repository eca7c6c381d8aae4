"""A command that has nothing to print, or cannot understand a value, prints one clear sentence."""

from pathlib import Path

import pytest

from tests.support.cli import WATCHER, Cli

NONE = "games match these filters"


@pytest.fixture
def filled(cli: Cli) -> Cli:
    cli("import", WATCHER)
    return cli


@pytest.mark.parametrize(
    "what",
    [
        ("pgn",), ("pgn", "--append"), ("pgn", "--split", "day"), ("games",), ("games", "--format", "csv"),
        ("games", "--format", "parquet"), ("plies",), ("plies", "--format", "parquet"), ("plies", "--dataset"),
        ("bpgn",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_an_export_without_games_says_so(filled: Cli, tmp_path: Path, what: tuple[str, ...]) -> None:
    result = filled("export", *what, "--white", "Morphy", "--black", "Morphy", "-o", tmp_path / "x", code=1)
    assert NONE in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_an_append_that_adds_nothing_is_no_filter_without_games(filled: Cli, tmp_path: Path) -> None:
    for _ in range(2):
        result = filled("export", "pgn", "--append", "-o", tmp_path / "x.pgn")
    assert NONE not in result.stderr
    assert "already in the file" in result.stderr


@pytest.mark.parametrize(
    ("word", "meant"),
    [("crazyhous", "crazyhouse"), ("Atomik", "atomic"), ("bugghouse", "bughouse"), ("qqqq", None)],
)
def test_an_unknown_variant_is_refused_with_a_suggestion(filled: Cli, word: str, meant: str | None) -> None:
    ending = "." if meant is None else f"; did you mean '{meant}'?"
    commands = (
        ("export", "pgn"), ("export", "bpgn"), ("export", "games"), ("export", "plies"), ("games",), ("clocks",),
        ("plot", "thinking", "-o", "x.png"), ("report", "--index", "-o", "x.html"), ("replay", "server"),
    )  # fmt: skip
    for command in commands:
        assert f"unknown variant '{word}'{ending}" in filled(*command, "--variant", word, code=2).stderr
    for known in ("zh", "wild(22)", "wild/99", "wild 5", "Fischerandom", "blitz"):
        filled("games", "--variant", known)


def test_a_suffix_that_is_no_format_is_named(filled: Cli, tmp_path: Path) -> None:
    for command, formats in (
        ("export games", ".jsonl, .csv, .parquet or name the format with --format."),
        ("export plies", ".csv, .jsonl, .parquet or name the format with --format."),
        ("export pgn", ".pgn."),
        ("export bpgn", ".bpgn."),
        ("clocks", ".csv, .jsonl, .json or name the format with --format."),
        ("convert LOG", ".pgn, .bpgn or name the format with --format."),
        ("report last", ".html, .htm."),
        ("plot race last", ".svg, .png, .pdf or name the format with --format."),
        ("replay engine LOG --uci no-engine", ".pgn."),
        ("db share", ".sqlite, .sqlite3, .db."),
    ):
        for name in ("x.xlsx", "x.pgn.gz"):
            words = [WATCHER if word == "LOG" else word for word in command.split()]
            result = filled(*words, "-o", tmp_path / name, code=2)
            assert f"{tmp_path / name}: " in result.stderr
            assert result.stderr.endswith(f"file {formats}\n")
            assert list(tmp_path.glob("x*")) == []
    filled("export", "games", "--format", "csv", "-o", tmp_path / "z.txt")
    filled("export", "games", "-o", tmp_path / "Z.CSV")
    assert (tmp_path / "z.txt").read_text() == (tmp_path / "Z.CSV").read_text()


def test_a_recorders_own_file_is_not_counted_as_skipped(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.log").write_bytes(WATCHER.read_bytes())
    (folder / ".record-0011aabb.state").write_text("{}")
    (folder / ".record-0011aabb.state.new").write_text("{}")
    assert "skipped" not in cli("import", folder).stderr
    (folder / ".other").write_text("x")
    assert "1 file skipped by name" in cli("import", folder).stderr


def test_an_empty_path_is_refused_with_a_sentence(cli: Cli) -> None:
    assert "The path is empty." in cli("import", "", code=None).stderr
    assert "The path is empty." in cli("convert", "", code=None).stderr


def test_anomalies_without_findings_are_a_sentence(filled: Cli) -> None:
    found = filled("anomalies", "--kind", "damaged")
    assert found.stderr == "No anomalies of this kind in 1 log.\n"
    assert found.stdout == "Source\tOffset\tKind\tGame\tWhat\tLine\n", "a pipe still gets the headings"
    assert filled.json("anomalies", "--kind", "damaged", "--json") == []
