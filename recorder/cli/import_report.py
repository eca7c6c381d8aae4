"""The report an import gives for each log, for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.archive.exporting import count_excluded
from recorder.cli.export_options import say_excluded
from recorder.cli.output import ANOMALY, say
from recorder.model import ImportStatus
from recorder.sources.name_dates import format_of
from recorder.text import clean, named, plural

if TYPE_CHECKING:
    from recorder.archive.reading.import_paths import Merged
    from recorder.archive.reading.importing import Outcome
    from recorder.model import Disposition, SourceReport
    from storage import ArchiveStore
    from storage.write.analyses import AnalysisCounts


_REPORT = named("kind server dialect me time_basis size_bytes line_count")
_OUTCOME = named(
    "name status message kind earlier_part_of=part_of sha256 size_bytes games plies "
    "undated_games=undated corrected_games=corrected"
)
_BY_NAME = "Import such a file by its own name to read it anyway."
_EXCLUDED = {"forgotten": "excluded, it was removed before", "exported": "excluded, ics-recorder wrote it"}
_KNOWN = "already in the archive, nothing new"


def _counts(counts: Mapping[Disposition, int]) -> str:
    """``1,204 (1,100 ply, 52 same, …)``, the most frequent first."""
    ordered = sorted((-count, kind.value) for kind, count in counts.items() if count)
    inner = ", ".join(f"{-count:,} {kind}" for count, kind in ordered)
    return f"{sum(counts.values()):,}" + (f" ({inner})" if inner else "")


def print_outcome(outcome: Outcome, *, verbose: bool, alone: bool = True) -> None:
    name = clean(outcome.name)
    alone = alone or verbose
    if outcome.message and (alone or not _is_stray(outcome)):
        say(clean(outcome.message))
    if outcome.report is None:
        if outcome.part_of is not None:
            click.echo(f"{name}: an earlier part of {clean(outcome.part_of)}; nothing new")
        elif outcome.status in _EXCLUDED:
            click.echo(f"{name}: {_EXCLUDED[outcome.status]}{f'. {_BY_NAME}' if alone else ''}")
        elif outcome.kind is not None and outcome.status != ImportStatus.EMPTY:
            click.echo(f"{name}: {_KNOWN if outcome.status == ImportStatus.KNOWN else f'{outcome.kind} log'}")
        return
    report = outcome.report
    if outcome.status == ImportStatus.KNOWN:
        click.echo(f"{name}: {_KNOWN}")
        _print_findings(report, verbose=verbose)
        return
    words = [report.kind, report.dialect, report.server]
    status = {"new": "", "grown": ", grew", "replaced": ", read again", "log": ""}[outcome.status]
    click.echo(f"{name}: {', '.join(word for word in words if word)}{status}")
    click.echo(f"  {plural(outcome.games, 'game')}, {plural(outcome.plies, 'move')}")
    if outcome.undated and alone:
        click.echo(f"  {plural(outcome.undated, 'game')} without a date ({_remedy([outcome])})")
    if outcome.corrected:
        undo = f"edit --source {(outcome.sha256 or '')[:12]} --undo"
        click.echo(f"  {plural(outcome.corrected, 'game')} had another date or server; `{undo}` restores it")
    for tag, counts in (("<12>", report.frames), ("<b1>", report.holdings)):
        if counts and verbose:
            click.echo(f"  {tag} {_counts(counts)}")
    for warning in report.warnings:
        click.echo(f"  {clean(warning)}")
    _print_findings(report, verbose=verbose)


_MERGED = {
    "new": "new",
    "grown": "more of it than was here",
    "replaced": "kept, read by a newer program, or with a date or server, there",
    "forgotten": _EXCLUDED["forgotten"],
}


def print_merged(merged: Merged, *, dry_run: bool) -> None:
    for outcome in merged.outcomes:
        if outcome.part_of is not None or outcome.status not in _MERGED:
            print_outcome(outcome, verbose=False)
            continue
        counts = "" if outcome.status == ImportStatus.FORGOTTEN else f": {plural(outcome.games, 'game')}"
        click.echo(f"{clean(outcome.name)}: {_MERGED[outcome.status]}{counts}")
    name = clean(merged.name)
    if merged.players:
        players = plural(merged.players, "player")
        games = plural(merged.games, "game") if merged.games else "No game"
        removed = "would be removed" if dry_run else "was removed" if merged.games < 2 else "were removed"
        click.echo(
            f"{name} has erased {players}; only hashes of erased handles are stored. "
            f"{games} of these players {removed} from this archive."
        )
    if merged.analyses or merged.homeless:
        click.echo(f"{name}: {plural(merged.analyses, 'analysis', 'analyses')} added")
    if merged.homeless:
        skipped = plural(merged.homeless, "analysis", "analyses")
        click.echo(f"{name}: {skipped} of games that are not in this archive skipped")


def say_analyses(counts: AnalysisCounts) -> None:
    """How many the archive has, and how many belong to no visible game."""
    if not counts.analyses:
        return
    analyses, positions = plural(counts.analyses, "analysis", "analyses"), plural(counts.positions, "position")
    say(f"The archive has {analyses} of {positions}.")
    if counts.fallen:
        say(f"Kept, but not shown: {plural(counts.fallen, 'analysed position')} that the games no longer have.")
    if counts.homeless:
        homeless = plural(counts.homeless, "analysis", "analyses")
        say(f"Kept, but not shown: {homeless} of games that are not in the archive.")


def _print_findings(report: SourceReport, *, verbose: bool) -> None:
    if report.anomalies:
        kinds = Counter(anomaly.kind.value for anomaly in report.anomalies)
        inner = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
        more = "" if verbose else " (--verbose lists them)"
        click.echo(f"  {plural(len(report.anomalies), 'anomaly', 'anomalies')}: {inner}{more}")
    if not verbose:
        return
    for anomaly in report.anomalies:
        click.echo(f"    at {anomaly.offset}: {anomaly.kind.value}: {clean(anomaly.message)}")
    if report.elsewhere:
        results = ", ".join(f"{count:,} {what}" for what, count in sorted(report.elsewhere.items()))
        click.echo(f"  results of games that were not observed: {results}")
    if report.shapes:
        lines = sum(shape.lines for shape in report.shapes)
        click.echo(f"  {plural(lines, 'unrecognised line')} of {plural(len(report.shapes), 'shape')}")
        for shape in sorted(report.shapes, key=lambda shape: (-shape.lines, shape.first_offset)):
            click.echo(f"    {shape.lines:>6} from {shape.first_offset}: {clean(shape.shape)}")


def _is_stray(outcome: Outcome) -> bool:
    """Whether it is a file of a folder that is no log."""
    return outcome.message is not None and not outcome.unreadable


def _remedy(undated: Sequence[Outcome]) -> str:
    form = format_of([Path(outcome.name).name for outcome in undated])
    return "use --date" if form is None else f"use --date, or --date-from-name '{form}'"


def print_notes(outcomes: Sequence[Outcome]) -> None:
    strays: dict[str, list[Outcome]] = {}
    for outcome in filter(_is_stray, outcomes):
        strays.setdefault((outcome.message or "").removeprefix(outcome.name), []).append(outcome)
    for first, *others in strays.values():
        rest = f". The same is true of {plural(len(others), 'other file')} (--verbose names them)." if others else ""
        say(clean(f"{first.message}{rest}"))
    undated = [outcome for outcome in outcomes if outcome.undated]
    if undated:
        games = sum(outcome.undated for outcome in undated)
        logs = clean(Path(undated[0].name).name) if len(undated) == 1 else plural(len(undated), "log")
        say(f"{plural(games, 'game')} of {logs} without a date: {_remedy(undated)}.")
    if any(outcome.status in (ImportStatus.FORGOTTEN, ImportStatus.EXPORTED) for outcome in outcomes):
        say(f"Files were excluded. {_BY_NAME}")


def count_all(archive: ArchiveStore) -> int:
    """Games of every kind."""
    from storage import EVERY_GAME

    return archive.count(EVERY_GAME)


def say_archive(archive: ArchiveStore, before: int | None) -> None:
    """``before``: how many games there were before an import whose summary cannot count games."""
    from storage import GameFilter

    total, excluded = count_all(archive), count_excluded(archive, GameFilter())
    had = "" if before is None else f" ({before:,} before the import)"
    lists = f" `games` lists {total - sum(excluded.values()):,}." if excluded else ""
    say(f"The archive has {plural(total, 'game')} of {plural(archive.count_players(), 'player')}{had}.{lists}")
    say_excluded(excluded.items())


def print_total(outcomes: Sequence[Outcome], *, dry_run: bool, distinct: int | None) -> None:
    """``distinct`` games, or None where logs had grown."""
    states = Counter(outcome.status.replace("-", " ") for outcome in outcomes)
    if dry_run and "log" in states:
        logs = plural(states.pop("log", 0), "log")
        others = "".join(f", {count:,} {status}" for status, count in sorted(states.items()))
        click.echo(f"{plural(len(outcomes), 'file')}: {logs}{others}; nothing was stored")
        return
    words = ", ".join(f"{count:,} {status}" for status, count in sorted(states.items()))
    what = "log" if all(outcome.kind is not None for outcome in outcomes) else "file"
    games, plies = sum(outcome.games for outcome in outcomes), sum(outcome.plies for outcome in outcomes)
    if distinct is None:
        stored = plural(games, "recording")
    else:
        stored = plural(games, "game" if distinct == games else "recording")
        stored += "" if distinct == games else f" of {plural(distinct, 'game')}"
    result = "nothing was stored" if dry_run else f"{stored}, {plural(plies, 'move')}"
    click.echo(f"{plural(len(outcomes), what)} ({words}): {result}")


def report_json(report: SourceReport, *, verbose: bool = True) -> dict[str, Any]:
    """``verbose`` adds anomalies and shapes one by one."""
    facts: dict[str, Any] = _REPORT(report) | {
        "frames": {kind.value: count for kind, count in sorted(report.frames.items(), key=lambda item: item[0].value)},
        "holdings": {
            kind.value: count for kind, count in sorted(report.holdings.items(), key=lambda item: item[0].value)
        },
        "elsewhere": dict(sorted(report.elsewhere.items())),
        "anomaly_count": len(report.anomalies),
        "unrecognised_lines": sum(shape.lines for shape in report.shapes),
        "warnings": list(report.warnings),
    }
    if verbose:
        facts["anomalies"] = list(map(ANOMALY, report.anomalies))
        facts["shapes"] = [shape._asdict() for shape in report.shapes]
    return facts


def outcome_json(outcome: Outcome, *, verbose: bool) -> dict[str, Any]:
    return _OUTCOME(outcome) | {
        "report": None if outcome.report is None else report_json(outcome.report, verbose=verbose),
    }
