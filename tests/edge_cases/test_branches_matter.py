"""Each line below takes one branch out of the product; the edge case that it serves must then fail.

An edge case that passes without the code written for it proves nothing.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pytest

import recorder.dialects.movelist
import recorder.dialects.results
import recorder.dialects.session
import recorder.dialects.style12
import recorder.sources.client_logs
import recorder.tracking.boards
import recorder.tracking.game_table
import recorder.tracking.holdings
import recorder.tracking.movelists
import recorder.tracking.tracked_game
import recorder.tracking.tracker
import recorder.wire.controls
import recorder.wire.lines
from recorder.dialects.session import Family
from recorder.wire.prompts import PromptStripper
from tests.edge_cases import test_edge_01_to_23 as edges_01
from tests.edge_cases import test_edge_24_to_46 as edges_24
from tests.edge_cases import test_edge_47_to_69 as edges_47
from tests.support.compiled import ROOT, is_compiled
from tests.tracking import test_deltas as deltas
from tests.tracking import test_game_lines as game_lines

_NEVER = re.compile(r"(?!)")
_NEVER_BYTES = re.compile(rb"(?!)")
_Boards = recorder.tracking.boards.Boards
_Tracker = recorder.tracking.tracker.Tracker
_holdings = _Tracker._holdings
_DIALECTS = recorder.dialects.session.DIALECTS
_SHUTDOWN = "    **** Server shutting down immediately. ****"


class Branch(NamedTuple):
    """What is taken out, and the check that must notice it."""

    edge: str
    check: Callable[[], None]
    place: Any
    name: str
    instead: Any


def _conflict(boards: Any, run: Any, frame: Any, ply: int) -> None:
    boards.conflict(run, frame, ply, "taken out")


def _always_replace(boards: Any, run: Any, frame: Any, announced: bool) -> None:
    boards.replace(run, frame)


def _nothing(*_: Any) -> None:
    return None


BRANCHES = [
    Branch(
        "02 prompts", edges_01.test_edge_02_prompts_before_the_tag, PromptStripper, "strip", lambda _, text: (text, 0)
    ),
    Branch(
        "05 pings",
        edges_01.test_edge_05_ping_before_and_after_the_frame,
        recorder.wire.lines,
        "_PING_LINE",
        _NEVER_BYTES,
    ),
    Branch(
        "06 pings in a line",
        edges_01.test_edge_06_ping_over_a_split_and_inside_a_frame,
        recorder.wire.lines,
        "PING",
        b"no such bytes",
    ),
    Branch(
        "08 cut frames",
        edges_01.test_edge_08_frame_cut_after_the_move,
        recorder.dialects.style12,
        "_CUT",
        _NEVER,
    ),
    Branch(
        "22 start position of a list",
        edges_01.test_edge_22_start_position_inside_a_movelist,
        recorder.dialects.movelist.MovelistReader,
        "offer_frame",
        lambda reader, frame: False,
    ),
    Branch(
        "24 the code of sposition",
        edges_24.test_edge_24_position_of_a_stored_game,
        recorder.tracking.boards,
        "STORED_BLOCKS",
        frozenset(),
    ),
    Branch(
        "42 replies of stored games",
        partial(game_lines.test_boards_and_holdings_of_stored_games_do_not_change_a_game_in_progress, 81),
        recorder.tracking.tracker,
        "LIST_BLOCKS",
        frozenset(),
    ),
    Branch(
        "49 a stored game's list",
        partial(game_lines.test_a_stored_games_list_is_not_joined_to_the_game_in_progress, 123),
        recorder.tracking.movelists,
        "STORED_BLOCKS",
        frozenset(),
    ),
    Branch(
        "41 facts of the number's next game",
        game_lines.test_a_g1_during_a_game_belongs_to_it_if_the_game_continues,
        recorder.tracking.game_table.GameTable,
        "settle_facts",
        _nothing,
    ),
    Branch("36 deltas", deltas.test_a_whole_game_of_deltas, recorder.tracking.tracker, "take_delta", _nothing),
    Branch(
        "36 a board after deltas",
        deltas.test_the_next_board_proves_the_deltas_before_it,
        recorder.tracking.tracked_game.TrackedGame,
        "join_deltas",
        _nothing,
    ),
    Branch(
        "49 a list after lost deltas",
        deltas.test_a_movelist_proves_the_deltas_after_a_gap_and_finds_the_position,
        recorder.tracking.movelists,
        "find_by_list",
        _nothing,
    ),
    Branch(
        "29 castling by the boards",
        edges_24.test_edge_29_castling_of_a_king_that_is_not_on_e1,
        recorder.tracking.boards,
        "try_rules",
        _nothing,
    ),
    Branch(
        "31 holdings of the game they name",
        edges_24.test_edge_31_holdings_of_another_game,
        _Tracker,
        "_holdings",
        lambda tracker, event: _holdings(tracker, replace(event, game_no=7)),
    ),
    Branch(
        "33 the same ply again",
        edges_24.test_edge_33_same_board_after_an_illegal_move,
        _Boards,
        "_same_ply",
        lambda boards, run, frame: _conflict(boards, run, frame, frame.ply),
    ),
    Branch("35 takeback", edges_24.test_edge_35_takeback_without_text, _Boards, "_earlier", _conflict),
    Branch("37 added time", edges_24.test_edge_37_six_hundred_seconds_more, _Boards, "_clocks_moved", _nothing),
    Branch(
        "41 a new game is announced",
        edges_24.test_edge_41_number_reused,
        recorder.tracking.tracker.GameEnds,
        "created",
        _nothing,
    ),
    Branch(
        "43 reasons without a name",
        edges_24.test_edge_43_aborted_without_a_name,
        recorder.dialects.results,
        "_WHOLE",
        {},
    ),
    Branch(
        "44 the name before the reason",
        edges_24.test_edge_44_partner_of_the_winner,
        recorder.dialects.results,
        "_AFTER_NAME",
        {},
    ),
    Branch(
        "47 trailers",
        partial(edges_47.test_edge_47_trailers_of_a_movelist, "{White resigned} 0-1", "0-1", "resign", "result"),
        recorder.dialects.movelist,
        "_TRAILER",
        lambda: _NEVER,
    ),
    Branch(
        "52 holdings show the variant",
        edges_47.test_edge_52_movelist_that_names_no_variant,
        recorder.tracking.holdings,
        "_infer_variant",
        _nothing,
    ),
    Branch(
        "53 wrapped lines", edges_47.test_edge_53_wrapped_kibitz, recorder.wire.lines, "_CONTINUATION", _NEVER_BYTES
    ),
    Branch(
        "57 a lag that is always 0",
        edges_47.test_edge_57_lag_that_says_nothing,
        recorder.dialects.session,
        "DIALECTS",
        {**_DIALECTS, Family.CHESSD: _DIALECTS[Family.CHESSD]._replace(lag_meaningless=False)},
    ),
    Branch(
        "59 names change",
        edges_47.test_edge_59_names_change_under_the_same_board,
        _Boards,
        "_other_players",
        _always_replace,
    ),
    Branch(
        "60 examined boards", edges_47.test_edge_60_examined_game_goes_back, recorder.tracking.boards, "_EXAMINED", ()
    ),
    Branch(
        "63 the direction of an entry",
        edges_47.test_edge_63_what_was_typed_is_no_data,
        recorder.sources.client_logs,
        "ENTRY",
        re.compile(rb"[<>]ICS: "),
    ),
    Branch(
        "64 the same fact of two connections",
        edges_47.test_edge_64_pychess_log_with_two_connections,
        recorder.sources.client_logs,
        "_REMEMBERED",
        -1,
    ),
    Branch(
        "65 units and datagrams",
        edges_47.test_edge_65_level_one_unit_with_datagrams_and_text,
        recorder.wire.controls.Controls,
        "obey",
        _nothing,
    ),
    Branch(
        "66 the mark of lost data",
        edges_47.test_edge_66_mark_of_lost_data,
        recorder.dialects.session,
        "_FORMS",
        [],
    ),
    Branch(
        "68 ends of the session",
        partial(edges_47.test_edge_68_session_ends, _SHUTDOWN),
        recorder.tracking.tracker,
        "_LOST_FEED",
        frozenset(),
    ),
    Branch(
        "69 mate on the other board",
        edges_47.test_edge_69_both_result_lines_of_a_bughouse_match,
        recorder.tracking.tracker,
        "is_checkmate",
        lambda position: True,
    ),
]


if is_compiled():
    # Compiled modules call each other directly: branches are taken out of the sources, in a process that runs those.
    def test_edge_cases_fail_without_their_branches() -> None:
        command = [sys.executable, "-m", "tests.support.pure", "-q", "-p", "no:cacheprovider", __file__]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
        passed = re.search(r"^(\d+) passed in ", done.stdout, re.MULTILINE)
        assert done.returncode == 0, done.stdout
        assert passed is not None
        assert int(passed[1]) == len(BRANCHES) + 1
else:

    @pytest.mark.parametrize("branch", BRANCHES, ids=[branch.edge for branch in BRANCHES])
    def test_edge_case_fails_without_its_branch(branch: Branch, monkeypatch: pytest.MonkeyPatch) -> None:
        branch.check()
        monkeypatch.setattr(branch.place, branch.name, branch.instead)
        with pytest.raises(AssertionError):
            branch.check()


def test_every_row_of_the_reference_has_its_test() -> None:
    names = [
        name for module in (edges_01, edges_24, edges_47) for name in vars(module) if name.startswith("test_edge_")
    ]
    assert sorted({int(name.split("_")[2]) for name in names}) == list(range(1, 70))
