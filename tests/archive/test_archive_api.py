"""``recorder.Archive`` and the methods of ``Game``: what Python programs and notebooks use."""

import base64
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import chess
import chess.pgn
import chess.variant
import pytest

import recorder
from tests.support.cli import Cli

CORPUS = Path(__file__).parents[1] / "corpus"
STANDARD = CORPUS / "server/a01_standard/observer_GuestObsA.raw.gz"
CRAZYHOUSE = CORPUS / "server/a03_crazyhouse"
BUGHOUSE = CORPUS / "server/a12_bughouse/observer_GuestBga.raw.gz"
ADJOURNED = CORPUS / "server/c08_adjourn/observer_GuestXw.raw"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("api")
    with recorder.Archive(folder / "games.db") as archive:
        archive.import_logs([STANDARD, CRAZYHOUSE, BUGHOUSE, ADJOURNED, CORPUS / "pgn"])
    return folder / "games.db"


@pytest.fixture
def archive(path: Path) -> recorder.Archive:
    return recorder.Archive(path, read_only=True)


def some_game(archive: recorder.Archive, **filters: Any) -> recorder.Game:
    return max(archive.games(**filters), key=lambda game: game.ply_count)


def log_of(archive: recorder.Archive, log: Path) -> str:
    """Return the id of a log for the filter ``source``."""
    seen = (one.source for game in archive.games() for one in game.observations)
    return next(source.sha256 for source in seen if source is not None and source.name == log.name)


def test_every_line_of_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    logs = tmp_path / "ics-logs"
    logs.mkdir()
    (logs / "session.raw.gz").write_bytes(STANDARD.read_bytes())
    (tmp_path / "session.log").write_bytes(ADJOURNED.read_bytes())
    with recorder.Archive("laptop.db") as other:
        other.import_logs(BUGHOUSE)

    with recorder.Archive("games.db") as archive:
        report = archive.import_logs("~/ics-logs", progress=True)
        assert re.fullmatch(r"Import of 1 file \(1 new\) · \d+ games · [\d,]+ plies", repr(report))
        for game in archive.games(player="Morphy", variant="chess"):
            print(game)
        printed = capsys.readouterr().out.splitlines()
        assert len(printed) == len(list(archive.games(player="Morphy"))) > 2
        pattern = r"Game [0-9a-f]{8} \w+–\w+ (1-0|0-1|1/2-1/2|\*) · [\d:+]+ \w+ · \d+ moves?"
        assert all(re.fullmatch(pattern, line) for line in printed)
        key = next(archive.games()).key
        game = archive[key[:6]]
        assert game.key == key
        assert archive["last"].key != archive["last~2"].key
        game = some_game(archive)
        assert "[%clk " in game.to_pgn(clock="clk,emt")
        assert isinstance(game.to_chess(), chess.pgn.Game)
        assert game.board(40).ply() == 40
        ply = game.plies[3]
        assert ply.uci == list(game.to_chess().mainline())[3].move.uci()
        assert (ply.ply, type(ply.san), type(ply.elapsed_ms)) == (4, str, int)
        assert ply.clock_ms == ply.black_clock_ms
        assert ply.proof is recorder.Proof.FULL
        assert isinstance(ply.white_clock_ms, int)
        assert isinstance(ply.lag_ms, int)
        usage = archive.plies(player="Morphy").ics.time_usage(by="phase")
        assert list(usage["phase"])[:1] == ["opening"]
        export = archive.export_pgn("games.pgn", player="Morphy")
        assert repr(export).startswith(f"Export of {len(printed)} games · ")
        assert Path("games.pgn").read_text(encoding="utf-8").count("[Result ") == len(printed)
        assert re.fullmatch(r"Verification of 1 log · 1 read again · 0 findings", repr(archive.verify()))
        before = len(list(archive))
        assert re.match(r"Merge of 1 log \(1 new\) · \d+ games?", repr(archive.import_archive("laptop.db")))
        assert len(list(archive)) > before
    assert next(str(game) for game in recorder.read_games("session.log")).startswith("Game ")


def test_an_archive_is_created_unless_it_is_opened_read_only(tmp_path: Path) -> None:
    with pytest.raises(recorder.StorageError):
        recorder.Archive(tmp_path / "none.db", read_only=True)
    assert not (tmp_path / "none.db").exists()
    archive = recorder.Archive(tmp_path / "none.db")
    assert repr(archive) == f"Archive {tmp_path / 'none.db'} · 0 games"
    assert list(archive) == []
    assert archive.path.exists()
    assert archive.plies().empty
    with pytest.raises(recorder.StorageError, match="read-only"):
        recorder.Archive(archive.path, read_only=True).import_logs(STANDARD)
    with pytest.raises(recorder.StorageError, match="no folder"):
        recorder.Archive(tmp_path / "missing" / "games.db")


def test_a_home_folder_may_be_written_as_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert recorder.Archive("~/games.db").path == tmp_path / "games.db"
    assert recorder.Archive(f"sqlite:///{tmp_path}/games.db", read_only=True).path == tmp_path / "games.db"


def test_what_an_import_reports(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Nothing of a chess server is in here.\n")
    (tmp_path / "log.csv").write_text("")
    calls: list[tuple[str, int, int | None]] = []
    archive = recorder.Archive(tmp_path / "games.db")
    report = archive.import_logs([STANDARD, tmp_path], progress=lambda *words: calls.append(words))
    assert [outcome.status for outcome in report.outcomes] == ["new", "not-a-log"]
    assert tmp_path / "log.csv" in report.skipped
    assert report.games == len(list(archive.games(include=["examined", "setup", "empty"])))
    assert report.failures == []  # another file in a folder is no failure
    assert calls
    repeated = archive.import_logs(STANDARD)
    assert (repeated.outcomes[0].status, repeated.games) == ("known", 0)
    some = archive.import_logs([tmp_path / "missing.log", STANDARD, tmp_path / "notes.txt"])
    assert [outcome.status for outcome in some.failures] == ["failed", "not-a-log"]
    first, second, third = repr(some).splitlines()
    assert first == "Import of 3 files (1 failed, 1 known, 1 not a log) · 0 games · 0 plies"
    assert second == f"  {tmp_path / 'missing.log'}: no such file or folder"
    assert third.startswith(f"  {tmp_path / 'notes.txt'} has no line of a chess server")
    with pytest.raises(FileNotFoundError, match=r"no such file or folder: '.*missing\.log'"):
        archive.import_logs(tmp_path / "missing.log")
    many = archive.import_logs([STANDARD, *(tmp_path / f"{number}.log" for number in range(9))])
    assert repr(many).splitlines()[-1] == "  and 4 more: see `failures`"


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"chat": "everything"}, "chat is one of none, public, own, all"),
        ({"kind": "wordperfect"}, "no kind of log"),
        ({"date": "yesterday"}, "is not a date"),
        ({"tz": "Atlantis"}, "is not a time zone"),
    ],
)
def test_a_wrong_reading_option_is_refused_before_anything_is_read(
    tmp_path: Path, option: dict[str, Any], words: str
) -> None:
    archive = recorder.Archive(tmp_path / "games.db")
    with pytest.raises(recorder.SourceError, match=words):
        archive.import_logs(STANDARD, **option)
    assert list(archive) == []


def test_reading_options_apply(tmp_path: Path) -> None:
    archive = recorder.Archive(tmp_path / "games.db")
    archive.import_logs(ADJOURNED, server="example.org", date="2020-01-31", kind="raw", keep=False)
    game = next(archive.games(include=["empty"]))
    assert game.server == "example.org"
    assert str(game.day) == "2020-01-31"


def test_the_class_gives_the_same_results_as_the_commands(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "games.db")
    cli("import", STANDARD)
    cli("export", "pgn", "--player", "Morphy", "--clock", "clk", "-o", tmp_path / "command.pgn")
    archive = recorder.Archive(cli.archive, read_only=True)
    archive.export_pgn(tmp_path / "class.pgn", clock=["clk"], player="Morphy")
    assert (tmp_path / "class.pgn").read_bytes() == (tmp_path / "command.pgn").read_bytes()
    assert [game.key for game in archive.games(last=3)] == [
        row["key"] for row in cli.json("games", "--last", "3", "--json")
    ]
    with pytest.raises(recorder.ExportError, match="already exists"):
        archive.export_pgn(tmp_path / "class.pgn")
    assert archive.export_pgn(tmp_path / "class.pgn", append=True).games > 0
    with pytest.raises(recorder.ExportError, match="one of them"):
        archive.export_pgn(tmp_path / "class.pgn", append=True, force=True)
    archive.export_pgn(tmp_path / "split", split="player")
    assert (tmp_path / "split" / "morphy.pgn").exists()
    with pytest.raises(recorder.StorageError, match="no analysis"):
        archive.export_pgn(tmp_path / "engine.pgn", engine=True, analysis="Zappa")


@pytest.mark.long
def test_the_class_writes_matches_and_reports_as_the_commands_do(tmp_path: Path) -> None:
    # One function draws for both; drawing takes most of the time.
    cli = Cli(tmp_path / "games.db")
    cli("import", STANDARD, BUGHOUSE)
    archive = recorder.Archive(cli.archive, read_only=True)
    cli("export", "bpgn", "--clock", "clk", "-o", tmp_path / "command.bpgn")
    assert archive.export_bpgn(tmp_path / "class.bpgn", clock=["clk"]).games > 0
    assert (tmp_path / "class.bpgn").read_bytes() == (tmp_path / "command.bpgn").read_bytes()
    assert archive.export_bpgn(tmp_path / "class.bpgn", append=True).games == 0
    for name, words, filters in (
        ("game", ["last"], {"key": "last"}),
        ("player", ["--player", "Morphy"], {"player": "Morphy"}),
        ("index", ["--index", "--variant", "chess"], {"variant": "chess"}),
    ):
        cli("report", *words, "-o", tmp_path / f"command-{name}.html")
        archive.write_report(tmp_path / f"class-{name}.html", **filters)  # type: ignore[arg-type]  # filters of different types
        assert (tmp_path / f"class-{name}.html").read_bytes() == (tmp_path / f"command-{name}.html").read_bytes()
    with pytest.raises(recorder.ExportError, match="already exists"):
        archive.write_report(tmp_path / "class-game.html", "last")
    for wrong in ({"key": "last", "variant": "chess"}, {"player": ["Morphy", "Anderssen"]}):
        with pytest.raises(recorder.ExportError, match="A report is about one game"):
            archive.write_report(tmp_path / "none.html", **wrong)  # type: ignore[arg-type]  # filters of different types
    with pytest.raises(recorder.ExportError, match="one of them"):
        archive.export_bpgn(tmp_path / "class.bpgn", append=True, force=True)


def test_a_variant_that_nothing_knows_is_refused_wherever_games_are_chosen(
    archive: recorder.Archive, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    uses: list[Callable[..., object]] = [
        archive.games,
        archive.plies,
        lambda **filters: next(archive.batches(**filters)),
        archive.sides,
        archive.game_table,
        archive.events,
        archive.matches,
        lambda **filters: archive.export_pgn(out, **filters),
        lambda **filters: archive.export_bpgn(out, **filters),
        lambda **filters: archive.write_report(out, **filters),
    ]
    for use in uses:
        with pytest.raises(
            recorder.UnknownVariantError, match="unknown variant 'crazyhous'; did you mean 'crazyhouse'"
        ):
            use(variant=["chess", "crazyhous"])
    assert not out.exists()
    assert len(list(archive.games(variant="zh"))) == len(list(archive.games(variant="crazyhouse"))) > 0


def test_a_variant_that_only_the_archive_has_is_known(tmp_path: Path) -> None:
    """A game of a variant that the rules lack."""
    archive = recorder.Archive(tmp_path / "games.db")
    (tmp_path / "foreign.pgn").write_text('[White "A"]\n[Black "B"]\n[Variant "Wormhole"]\n[Result "*"]\n\n*\n')
    archive.import_logs(tmp_path / "foreign.pgn")
    assert [game.variant for game in archive.games(include=["empty"])] == ["wormhole"]
    assert list(archive.games(variant="wormhole")) == []
    with pytest.raises(recorder.UnknownVariantError, match=r"unknown variant 'whirlpool'\.$"):
        archive.games(variant="whirlpool")


@pytest.mark.long
def test_tables_have_a_row_for_each_game_of_the_iterator(archive: recorder.Archive) -> None:
    keys = [game.key for game in archive.games(player="Morphy")]
    assert list(archive.game_table(player="Morphy")["key"]) == keys
    assert list(archive.sides(player="Morphy")["key"])[::2] == keys
    assert set(archive.plies(player="Morphy")["key"]) == set(keys)
    assert sum(map(len, archive.batches(50, player="Morphy"))) == len(archive.plies(player="Morphy"))
    assert set(archive.events(player="Morphy")["key"]) <= set(keys)
    assert not archive.matches().empty


def test_every_game_of_python_chess_has_the_moves_and_clocks(archive: recorder.Archive) -> None:
    for game in archive:
        found = game.to_chess()
        nodes = list(found.mainline())
        plies = game.plies[: len(nodes)]
        assert len(nodes) == game.ply_count or not game.complete
        assert [node.move.uci() for node in nodes] == [ply.uci for ply in plies]
        for node, ply in zip(nodes, plies, strict=True):
            clock = None if ply.clock_ms is None or ply.clock_ms < 0 else ply.clock_ms / 1000
            assert node.clock() == (None if clock is None else pytest.approx(clock, abs=1e-6))
        reread = chess.pgn.read_game(io.StringIO(str(found)))
        assert not reread.errors
        assert len(list(reread.mainline())) == len(nodes)


def test_boards_are_those_of_the_variant(archive: recorder.Archive) -> None:
    game = some_game(archive, variant="crazyhouse")
    assert type(game.board(12)) is chess.variant.CrazyhouseBoard
    assert game.board(0).fen() == chess.variant.CrazyhouseBoard().fen()
    match = some_game(archive, variant="bughouse")
    dropped = next(ply for ply in match.plies if "@" in ply.san)
    assert isinstance(match.board(dropped.ply), chess.variant.CrazyhouseBoard)
    chess_game = some_game(archive, variant="chess", source=log_of(archive, STANDARD))
    board = chess.Board()
    for ply in chess_game.plies:
        assert chess_game.board(ply.ply - 1) == board
        board.push_san(ply.san)
    assert chess_game.board() == board
    for wanted in (-1, chess_game.plies[-1].ply + 1):
        with pytest.raises(recorder.ReplayError, match="no known position"):
            chess_game.board(wanted)


def test_a_variant_that_python_chess_lacks_is_refused(archive: recorder.Archive) -> None:
    game = archive["last"]
    game.variant = "shatranj"
    for ask in (game.board, game.to_chess):
        with pytest.raises(recorder.ExportError, match="no board for the variant shatranj"):
            ask()
    assert "no board for this variant" in game._repr_html_()


@pytest.mark.parametrize(("variant", "tag"), [("wild/5", "Variant"), ("losers", "RecorderVariant"), ("chess", None)])
def test_python_chess_reads_the_tags(archive: recorder.Archive, variant: str, tag: str | None) -> None:
    game = some_game(archive, variant="chess", source=log_of(archive, STANDARD))
    game.variant = variant
    found = game.to_chess()
    assert {name: value for name, value in found.headers.items() if name.endswith("Variant")} == (
        {} if tag is None else {tag: variant}
    )
    assert type(found.end().board()) is chess.Board


def test_a_sanitised_notebook_keeps_the_whole_picture(archive: recorder.Archive) -> None:
    game = some_game(archive, variant="chess", source=log_of(archive, STANDARD))
    game.reason = "<script>alert(1)</script>"
    html = game._repr_html_()
    root = ElementTree.fromstring(html)
    assert {element.tag for element in root.iter()} <= {"table", "caption", "tr", "td", "th", "img"}
    assert {name for element in root.iter() for name in element.attrib} == {"alt", "src"}
    images = [element.attrib["src"] for element in root.iter("img")]
    assert len(images) == 2
    for source in images:
        assert source.startswith("data:image/svg+xml;base64,")
        drawing = base64.b64decode(source.partition(",")[2]).decode()
        svg = ElementTree.fromstring(drawing)
        assert svg.tag == "{http://www.w3.org/2000/svg}svg"
        assert "<script" not in drawing
        links = re.findall(r'href="([^"]*)"', drawing)
        assert all(link.startswith("#") for link in links)
    text = "".join(root.itertext())
    assert game.white.handle in text
    assert re.search(r"\d:\d\d", text)  # a clock


def test_a_game_without_plies_is_drawn(archive: recorder.Archive) -> None:
    game = archive["last"]
    game.segments, game.observations = [], []
    assert "No times are known." in game._repr_html_()
    assert repr(game).endswith(" · no moves")


def test_players_by_parts_of_names_and_a_warning_for_an_unknown_one(archive: recorder.Archive, tmp_path: Path) -> None:
    assert {*archive.game_table(white="morp*")["white"]} == {"Morphy"}
    assert len(archive.game_table(player="*", since="2000", until="2001-02")) == 0
    with pytest.warns(UserWarning, match=r"^no player Morph; did you mean Morphy \([0-9]+ games\)\?$"):
        assert len(archive.plies(player="Morph")) == 0
    with pytest.warns(UserWarning, match="no player"), pytest.raises(recorder.NoGamesError):
        archive.export_pgn(tmp_path / "none.pgn", player="Morph")
    assert not (tmp_path / "none.pgn").exists()


# -- notebooks


def test_an_archive_has_a_length_and_a_table(archive: recorder.Archive) -> None:
    games = list(archive)
    assert len(archive) == len(games) > 10
    table = ElementTree.fromstring(f"<div>{archive._repr_html_()}</div>")
    rows = [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
    newest = list(archive.games(last=10))
    assert [row[0] for row in rows[1:]] == [game.key[:8] for game in newest]
    assert [row[2:4] for row in rows[1:]] == [[game.white.handle, game.black.handle] for game in newest]
    assert f"The newest 10 of {len(games)} games." in "".join(table.itertext())


def test_a_name_cannot_be_markup(tmp_path: Path) -> None:
    path = tmp_path / "x.pgn"
    path.write_text('[White "<b>Ann</b>"]\n[Black "Bob"]\n\n1. e4 *\n')
    archive = recorder.Archive(tmp_path / "games.db")
    archive.import_logs(path)
    assert "<b>" not in archive._repr_html_()


def test_tables_say_units_and_what_is_excluded(archive: recorder.Archive) -> None:
    plies = archive.plies(last=3)
    assert (plies.attrs["games"], plies.attrs["plies"]) == (3, len(plies))
    assert plies.attrs["units"]["elapsed_ms"] == "ms"
    assert plies.attrs["units"]["eval_after_cp"] == "cp"
    assert plies.attrs["excluded"]["older than the newest 3"] == len(archive) - 3
    games = archive.game_table(guests=False, complete=True).attrs
    assert {"with a guest", "incomplete"} <= games["excluded"].keys()
    examined = len(archive.game_table(include=["examined", "setup", "empty"]))
    assert games["games"] + sum(games["excluded"].values()) == examined
    sides = archive.sides(last=1).attrs
    assert sides["units"] == {"base_s": "s", "increment_s": "s", "score": "points", "started_ms": "ms"}
    assert next(archive.batches(last=3)).attrs["units"] == plies.attrs["units"]


def test_times_may_be_timedelta(archive: recorder.Archive) -> None:
    plies, timed = archive.plies(last=30), archive.plies(last=30, as_timedelta=True)
    names = [str(name) for name in plies if name not in ("arrival_ms", "started_ms")]
    assert [name.removesuffix("_ms").removesuffix("_s") for name in names] == [
        name for name in timed if name not in ("arrival_ms", "started_ms")
    ]
    for name in ("elapsed", "clock_before", "lag"):
        known = plies[f"{name}_ms"].notna()
        assert (timed[name].notna() == known).all()
        assert (timed.loc[known, name].dt.total_seconds() * 1000).round().tolist() == plies.loc[
            known, f"{name}_ms"
        ].tolist()
    assert timed["arrival_ms"].dtype == "Int64"
    usage = plies.ics.time_usage(by="phase")
    assert plies.ics.time_usage(by="phase", as_timedelta=True)["mean"].dt.total_seconds().tolist() == pytest.approx(
        [ms / 1000 for ms in usage["mean_ms"]]
    )
    with pytest.raises(AttributeError, match="read it without as_timedelta"):
        timed.ics  # noqa: B018  # looking it up is the test
    assert "elapsed" in next(archive.batches(last=1, as_timedelta=True))
