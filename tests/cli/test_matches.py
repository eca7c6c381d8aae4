"""Both boards of a bughouse match: ``show``, ``show --match``, ``verify``."""

import gzip
import re
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.support.cli import SERVER, Cli
from tests.support.corpus import stream_bytes

LOG = SERVER / "c06_bughouse" / "observer_GuestXo.raw.gz"


@pytest.fixture
def matches(cli: Cli) -> Cli:
    cli("import", LOG)
    return cli


def test_show_names_the_other_board(matches: Cli) -> None:
    keys = {game["white"]["handle"]: game["key"] for game in matches.json("games", "--json", "--last", "2")}
    text = matches("show", keys["Karpov"]).stdout
    about = "Spassky - Petrosian (62 of 62 captured pieces came into the hands of the other board)"
    assert f"Other board:           {keys['Spassky']} {about}\n" in text
    assert "Contradiction" not in text


def test_both_boards_by_time(matches: Cli) -> None:
    text = matches("show", "last", "--match").stdout
    head, table = text.split("\n\n", 1)
    assert head.splitlines()[0].startswith("Board A: ")
    assert "Karpov - Fischer, 1-0 Fischer resigns" in head
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    assert len(rows) == 99 + 87
    assert all(re.fullmatch(r"\d+[ABab]\.", row[0]) for row in rows)
    assert sum(row[4] != "-" for row in rows) == 62
    assert {word for row in rows if row[4] != "-" for word in row[4].split()[2:]} == {
        "Karpov", "Fischer", "Spassky", "Petrosian",
    }  # fmt: skip
    assert {row[6] for row in rows} == {""}


def test_a_board_alone_has_no_match(cli: Cli) -> None:
    cli("import", SERVER / "c06_bughouse" / "observer_GuestXp.raw.gz")
    assert "Other board" not in cli("show", "last").stdout
    assert "is unknown" in cli("show", "last", "--match", code=ExitCode.ARCHIVE).stderr
    cli("show", "last", "--match", "--raw", code=2)


def test_clocks_that_contradict_each_other_are_found(cli: Cli, tmp_path: Path) -> None:
    """In every frame of board B, White's clock shows 100 seconds less."""
    log = tmp_path / "x.log"
    frame = re.compile(rb"(<12> [^\n]* 2 Spassky Petrosian 0 3 0 \d+ \d+ )(\d+)(?= )")
    log.write_bytes(
        frame.sub(lambda found: found[1] + b"%d" % (int(found[2]) - 100), gzip.decompress(LOG.read_bytes()))
    )
    cli("import", log)
    text = cli("show", "last", "--match").stdout
    assert "\nFindings\n" in text
    finding = r"\d+[Aa]\. Karpov's board: the clocks of board B had run \d+ ms longer than those of board A; "
    assert re.search(finding, text.split("Findings\n")[1])
    assert "Contradiction:" in cli("show", "last").stdout
    output = cli("verify", code=ExitCode.FINDINGS).stdout
    assert len(re.findall(r"  Bughouse match of \w{8} and \w{8}: " + finding, output)) >= 2


def test_verify_finds_nothing_in_recorded_matches(matches: Cli) -> None:
    assert "agrees; 4 games" in matches("verify").stdout


def test_two_players_logs_are_one_match(cli: Cli, tmp_path: Path) -> None:
    """Each log contains one board and the game number of the other."""
    for name in ("Fischer", "Spassky"):
        (tmp_path / f"{name}.log").write_bytes(stream_bytes("b06_bughouse", f"player_{name}"))
        cli("import", tmp_path / f"{name}.log")
    key = next(game["key"] for game in cli.json("games", "--json") if game["white"]["handle"] == "Karpov")
    text = cli("show", key, "--match").stdout
    assert "game 2 names 3 as its partner's" in text
    assert "order not known" in text
    assert cli("export", "bpgn", key).stdout.count("[Event ") == 1
    assert '[WhiteB "Spassky"]' in cli("export", "bpgn", key).stdout
