"""``ics-recorder show``: one game, all that is known about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from recorder.archive.locate import open_archive
from recorder.archive.pages.related import anomalies_of_game, games_by_source
from recorder.cli.option_types import complete_keys
from recorder.cli.options import Command, archive_option, json_option, wide_option
from recorder.cli.output import print_facts, print_json, print_table
from recorder.corrections import words_of
from recorder.errors import StorageError
from recorder.model import (
    AnchorReason,
    EventKind,
    Game,
    LineKind,
    Observation,
    ObservationKind,
    Ply,
    PlyLine,
    shows_board,
)
from recorder.movetext import move_number
from recorder.text import clean, plural
from recorder.times import format_clock

if TYPE_CHECKING:
    from recorder.model import Analysis, Player, Thinking
    from storage import ArchiveStore


class _Line(NamedTuple):
    depth: int
    line: PlyLine


def _print_tree(game: Game) -> None:
    """Under the line that they leave, and lines from other start positions."""
    main = _main(game)
    for index, view in enumerate(game.observations):
        other = view.kind is ObservationKind.EXAMINED and index not in main
        lines = list(_in_depth(view))
        if not other and all(line.kind is not LineKind.VARIATION for _, line in lines):
            continue
        fen = next(
            (anchor.fen for anchor in view.anchors if anchor.line == 0 and anchor.reason is AnchorReason.START), None
        )
        which = f" of source {index} ({view.white} - {view.black})" if other else ""
        click.echo()
        click.echo(clean(f"Lines{which}{f' from {fen}' if fen is not None else ''}"))
        for depth, line in lines:
            if line.kind is LineKind.TAKEBACK:
                continue
            left = "" if line.parent is None else f"after {_place(line.parent_ply or 0)} of {line.parent}: "
            click.echo(clean(f"{line.number:>4} {'  ' * depth}{left}{_moves(line.plies)}"))


def _print_shown(game: Game) -> None:
    from recorder.times import iso

    rows = []
    for index, observation in enumerate(game.observations):
        sans = {(line.number, ply.ply): ply.san for line in observation.lines for ply in line.plies}
        rows += [
            (
                iso(event.at_ms, game.time_basis),
                index,
                event.value,
                _place(event.ply),
                sans.get((event.value or 0, event.ply)),
                event.offset,
            )
            for event in observation.events
            if shows_board(event)
        ]
    if rows:
        click.echo("\nShown")
        rows.sort(key=lambda row: row[-1])
        print_table(("At", "Source", "Line", "After", "Move", "Offset"), rows, right=("Source", "Line", "Offset"))


def _main(game: Game) -> set[int]:
    return {segment.observation for segment in game.segments} or {0}


def _in_depth(observation: Observation) -> Iterator[_Line]:
    """With how deep each lies, under the one that it leaves."""
    below: dict[int | None, list[PlyLine]] = {}
    for line in observation.lines:
        below.setdefault(line.parent, []).append(line)
    waiting = [_Line(0, line) for line in reversed(below.get(None, []))]
    while waiting:
        depth, line = waiting.pop()
        yield _Line(depth, line)
        waiting += [_Line(depth + 1, child) for child in reversed(below.get(line.number, []))]


def _place(ply: int) -> str:
    """``the start``, ``12.`` after White's move, ``12...`` after Black's."""
    return move_number(ply) if ply else "the start"


def _moves(plies: list[Ply]) -> str:
    """An ellipsis where plies are missing."""
    words: list[str] = []
    last: int | None = None
    for ply in plies:
        if last is not None and ply.ply != last + 1:
            words.append("…")
        begins = last is None or ply.ply != last + 1
        number = f"{_place(ply.ply)} " if ply.white_moved or begins else ""
        words.append(f"{number}{ply.san}")
        last = ply.ply
    return " ".join(words) or "no move"


@click.command(
    "show",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder show last
  $ ics-recorder show 6af8
  Key:                   6af87f9ef705e8a82d9b
  White:                 Helmsman (1583)
  Black:                 AntaresLight (1577)
  Result:                0-1 White resigns
  ...
  ics-recorder show last~2 --raw
  ics-recorder show last --match
  ics-recorder show 6af8 --analysis stockfish
""",
)
@click.argument("spec", metavar="GAME", shell_complete=complete_keys)
@archive_option
@click.option("--raw", is_flag=True, help="Print the lines of the log that belong to the game, with file and offset.")
@click.option("--match", "as_match", is_flag=True, help="Show both boards of a bughouse match by time.")
@click.option(
    "--analysis",
    metavar="ENGINE",
    show_default="the one that covers most of the game, else the newest",
    help=("Analysis for the column Eval, by the first characters of the engine's name; none: no such column."),
)
@json_option
@wide_option
def command(spec: str, where: str, raw: bool, as_match: bool, analysis: str | None, as_json: bool) -> None:
    """Show a game: moves, clocks, think times, lag, events, sources.

    GAME is its key: 6af8, last or last~2 (see `help keys`). The page has tags, moves with clock, elapsed time and lag,
    the final board, events, anomalies and evaluations; of an examined game also variations and the order of the boards
    shown; of a game of several sources the evidence that they are one, and their differences. A move without a note is
    proved: its two notations (e4 and P/e2-e4), the boards and the rules agree. `list` marks a legal move that no board
    shows.
    """
    if raw and as_json:
        raise click.UsageError("--raw prints lines of the log: omit --json.")
    if as_match and (raw or as_json):
        raise click.UsageError("--match prints text: omit --raw and --json.")
    if analysis is not None and (raw or as_match or as_json):
        raise click.UsageError("--analysis selects the column Eval: omit --raw, --match and --json.")
    from recorder.archive.pages.related import games_in_progress

    with open_archive(where) as archive, archive.snapshot():
        game = archive.game(spec)
        if raw:
            _print_raw(archive, game)
        elif as_match:
            _print_match(archive, game)
        elif as_json:
            from exporters.games_json import game_object

            print_json(game_object(game))
        else:
            counts = _choose_analysis(game, analysis)
            in_progress = game.key in games_in_progress(archive)
            print_facts(_headers(game, in_progress, None if counts is None else counts[0]), 23)
            print_facts(_others(archive, game), 23)
            _print_moves(game, {} if counts is None else counts[1])
            _print_tree(game)
            _print_shown(game)
            _print_board(game)
            _print_thinking(game)
            _print_events(game)
            _print_anomalies(archive, game)


_EVIDENCE = {"same": "Sources agree", "continues": "Continuation", "conflict": "Sources disagree"}


def _choose_analysis(game: Game, engine: str | None) -> tuple[Analysis, dict[int, Thinking]] | None:
    """With its last line by half-moves played."""
    from exporters.evaluations import main_analysis

    if engine == "none":
        return None
    chosen = main_analysis(game, engine)
    if chosen is None and engine is not None:
        names = ", ".join(dict.fromkeys(analysis.engine for analysis in game.analyses))
        there = f"It was analysed by {names}." if names else "It has no analysis."
        raise StorageError(f"Game {game.key[:8]} has no analysis by an engine whose name begins with {engine}. {there}")
    return chosen


def _person(player: Player) -> str:
    return f"{player.handle}{player.titles or ''} ({player.rating_text or '?'})"


def _headers(game: Game, in_progress: bool, main: Analysis | None) -> list[tuple[str, object]]:
    from recorder.model import printed_control
    from recorder.model.games import rated_word
    from recorder.times import iso, iso_start

    plain = game.variant == "chess" and "chess" not in (game.category or "").split()
    variant = "chess" if plain else game.variant_word
    time = printed_control(game) if game.base_s is None else f"{game.base_s} s + {game.increment_s} s"
    if game.black_base_s is not None and (game.black_base_s, game.black_increment_s) != (game.base_s, game.increment_s):
        time = f"{time}, Black {game.black_base_s} s + {game.black_increment_s} s"
    opening, eco = game.opening, None
    if opening is not None:
        tags = [event.text for event in game.events if event.kind is EventKind.TAG and event.detail == "ECO"]
        others = [tag for tag in tags if tag != "?" and not tag.startswith(opening.eco)]  # it may have the name, too
        eco = f"{opening.eco} by position; ECO tag: {others[0]}" if others else opening.eco
    marks = [] if game.complete or in_progress else ["incomplete"]
    end = "in progress" if in_progress else game.end
    marks += ["continues an adjourned game"] if game.continued else []
    sources = [view.source.name for view in game.observations if view.source is not None] if game.merged_from else []
    return [
        ("Key", game.key),
        ("White", _person(game.white)),
        ("Black", _person(game.black)),
        ("Result", f"{game.result} {game.reason or ''}".strip()),
        ("Ended", f"{end} ({game.termination})" if game.termination and not in_progress else end),
        ("Kind", " ".join(word for word in (game.kind.value, rated_word(game), game.category, variant) if word)),
        ("Opening", None if opening is None else f"{opening.name} ({eco})"),
        ("Time control", time),
        ("Server", game.server),
        ("Dialect", game.dialect),
        ("Server's game number", game.game_no),
        ("Partner's game number", game.partner_game_no),
        ("Started", iso_start(game) or game.date_text),
        ("Finished", None if in_progress else iso(game.ended_at_ms, game.time_basis)),
        ("Arrival times", game.time_basis.value),
        ("Start position", game.start_fen),
        ("Recorded by", game.me),
        ("Marks", ", ".join(marks) or None),
        *(("Corrected", words_of(correction)) for correction in game.corrections),
        ("Sources", ", ".join(dict.fromkeys(sources)) or None),
        *(("Analysed by", _analyst(analysis, analysis is main)) for analysis in game.analyses),
        *((_EVIDENCE[entry.kind.value], entry.text) for entry in dict.fromkeys(game.evidence)),
    ]


def _analyst(analysis: Analysis, counts: bool) -> str:
    """``counts``: the column of evaluations is theirs."""
    settings = json.loads(analysis.settings)
    chosen = {**settings.get("limit", {}), **settings.get("options", {})}
    positions = plural(len({line.ply for line in analysis.lines}), "position")
    return ", ".join([analysis.engine, positions, *(f"{name} {value}" for name, value in chosen.items())]) + (
        " (column Eval)" if counts else ""
    )


def _others(archive: ArchiveStore, game: Game) -> Iterator[tuple[str, object]]:
    """The other board of a match, and what examined the game or is examined in it."""
    from recorder.archive.pages.related import examinations, match_findings, match_of

    def about(other: Game, evidence: str) -> str:
        return f"{other.key} {other.white.handle} - {other.black.handle} ({evidence})"

    if game.variant == "bughouse" and (matched := match_of(archive, game)) is not None:
        match, evidence = matched
        yield "Other board", about(match.b if match.a.key == game.key else match.a, evidence)
        yield from (("Contradiction", finding) for finding in match_findings(match))
    for word, other, evidence in examinations(archive, game):
        yield word, about(other, evidence)


def _print_match(archive: ArchiveStore, game: Game) -> None:
    """By time: clocks, what each capture gave to the other board, and who has more time."""
    from recorder.archive.pages.related import match_findings, match_of, numbered_move
    from recorder.model import ELAPSED_DERIVED, EXACT
    from recorder.relating.match import leads, timeline, transfers

    matched = match_of(archive, game)
    if matched is None:
        raise StorageError(f"The other board of game {game.key[:8]} is unknown, or it is not a bughouse game.")
    match, evidence = matched
    for letter in "AB":
        game = match.board(letter)
        result = f"{game.result} {game.reason or ''}".strip()
        click.echo(f"Board {letter}: {game.key[:8]} {clean(f'{game.white.handle} - {game.black.handle}, {result}')}")
    click.echo(f"One match: {clean(evidence)}\n")
    by_capture = {(transfer.board, transfer.capture.ply): transfer for transfer in transfers(match)}
    rows: list[tuple[object, ...]] = []
    for moment, lead in zip(timeline(match), leads(match), strict=True):
        ply = moment.ply
        exact = ply.precision_code in EXACT
        transfer = by_capture.get((moment.board, ply.ply))
        gives = None
        if transfer is not None:
            to = match.board("B" if moment.board == "A" else "A")
            handle = (to.white if transfer.to_white else to.black).handle
            unseen = "" if transfer.passed is not None else " (not seen there)"
            piece = transfer.capture.pieces if transfer.passed is None else transfer.passed.piece
            gives = f"{'/'.join(piece)} to {handle}{unseen}"
        notes = [] if moment.certain else ["order not known"]
        notes += ["elapsed derived"] if ply.precision_code in ELAPSED_DERIVED else []
        rows.append(
            (
                numbered_move(moment.board, ply.ply),
                ply.san,
                format_clock(ply.clock_ms, exact),
                format_clock(ply.elapsed_ms, exact),
                gives,
                None if lead is None else f"{'+' if lead >= 0 else ''}{format_clock(lead, exact)}",
                ", ".join(notes),
            )
        )
    columns = ("No", "Move", "Clock", "Elapsed", "Gives", "Lead of A", "Notes")
    print_table(columns, rows, right=("No", "Clock", "Elapsed", "Lead of A"))
    findings = match_findings(match)
    if findings:
        click.echo("\nFindings")
        for finding in findings:
            click.echo(clean(finding))


def _print_moves(game: Game, analysed: dict[int, Thinking]) -> None:
    from exporters.evaluations import score_text
    from recorder.model import ELAPSED_DERIVED, EXACT, Origin, Proof

    click.echo()
    rows: list[tuple[object, ...]] = []
    previous = game.start_ply
    for ply in game.plies:
        if ply.ply > previous + 1:
            rows.append(("…", f"{ply.ply - previous - 1} plies are missing", None, None, None, None, None))
        previous = ply.ply
        notes = [] if ply.proof_code == Proof.FULL else [Proof(ply.proof_code).name.lower()]
        notes += [] if ply.origin_code == Origin.FRAME else [Origin(ply.origin_code).name.lower()]
        notes += ["elapsed derived"] if ply.precision_code in ELAPSED_DERIVED else []
        rows.append(
            (
                move_number(ply.ply),
                ply.san,
                format_clock(ply.clock_ms, ply.precision_code in EXACT),
                format_clock(ply.elapsed_ms, ply.precision_code in EXACT),
                ply.lag_ms,
                ", ".join(dict.fromkeys(notes)),
                score_text(analysed[ply.ply], signed=True) if ply.ply in analysed else None,
            )
        )
    columns: tuple[str, ...] = ("No", "Move", "Clock", "Elapsed", "Lag ms", "Notes", "Eval")
    if not analysed:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    print_table(columns, rows, right=("No", "Clock", "Elapsed", "Lag ms", "Eval"))


def _print_board(game: Game) -> None:
    from recorder.model.boards import board_text, final_board

    board = final_board(game)
    if board is not None:
        click.echo(f"\n{board_text(board)}")


def _print_thinking(game: Game) -> None:
    from exporters.evaluations import score_text, thoughts_by_ply

    rows = [
        (
            move_number(ply),
            thought.engine,
            score_text(thought, signed=True),
            thought.depth,
            format_clock(thought.time_ms, exact=True),
            thought.nodes,
            thought.pv,
        )
        for ply, thoughts in sorted(thoughts_by_ply(game).items())
        for thought in thoughts
    ]
    if rows:
        click.echo("\nThinking output (scores from White's side)")
        print_table(
            ("No", "Engine", "Score", "Depth", "Time", "Nodes", "Line"),
            rows,
            right=("No", "Score", "Depth", "Time", "Nodes"),
            narrow=(("Line", 20), "Nodes", ("Engine", 10)),
        )


def _print_events(game: Game) -> None:
    events = [event for event in game.events if not shows_board(event)]
    if events:
        click.echo("\nEvents")
        print_table(
            ("Ply", "Event", "Who", "Value", "Text", "Offset"),
            [
                (
                    event.ply,
                    f"{event.kind.value} {event.detail}".strip(),
                    event.actor,
                    event.value,
                    event.text,
                    event.offset,
                )
                for event in events
            ],
            right=("Ply", "Value", "Offset"),
        )


def _print_anomalies(archive: ArchiveStore, game: Game) -> None:
    anomalies = anomalies_of_game(archive, game)
    if anomalies:
        click.echo("\nAnomalies")
        print_table(
            ("Kind", "Offset", "What", "Line"),
            [(anomaly.kind.value, anomaly.offset, anomaly.message, anomaly.text) for anomaly in anomalies],
            right=("Offset",),
        )


def _print_raw(archive: ArchiveStore, game: Game) -> None:
    """Each after the log's name and its offset."""
    from recorder.archive.reading.kept_bytes import lines_of_game, short_names

    names = short_names(archive.sources())
    for row, source_game in games_by_source(archive, game):
        for line in lines_of_game(archive, row, source_game):
            click.echo(f"{clean(names[row.id])}:{line.offset}: {clean(line.text)}")
