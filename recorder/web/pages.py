"""The pages of the site: each function takes what a page is about and returns its HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from exporters.report.game_list import COLUMNS, list_row
from exporters.report.page import BarItem, plain_name, render_page
from exporters.report.svg import draw_board, drawings
from exporters.report.tables import NOTHING, control_words
from exporters.tables.facts import reason_words
from recorder.archive.game_measures import DIMENSIONS, MEASURES
from recorder.archive.reading.kept_bytes import GameLine
from recorder.filters import Filter
from recorder.text import plural
from recorder.web.insights import PRESETS
from recorder.web.links import WebSite
from recorder.web.listing import FIELDS, Choices, ListState, kind_of
from recorder.web.live_state import LiveState
from storage.read.listing import ListedGame

_TEMPLATES: Final = Path(__file__).parent / "templates"
_GAMES: Final = BarItem("Games", "/")
_EXPLORER: Final = BarItem("Explorer", WebSite().explorer())
_INSIGHTS: Final = BarItem("Insights", WebSite().insights())
_LIVE: Final = BarItem("Live", WebSite().live)

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_OUTCOMES: Final = (("win", "won"), ("draw", "drawn"), ("loss", "lost"))
_FORMATS: Final = (("csv", "CSV"), ("pgn", "PGN"), ("jsonl", "JSON"))


def games_page(
    listed: ListState,
    games: Sequence[ListedGame],
    *,
    in_progress: Collection[str],
    count: int,
    of: int,
    unknown: Mapping[str, int],
    without: str | None,
    unindexed: int,
    more: tuple[bool, bool],
    choices: Choices,
    scores: Mapping[str, int],
) -> bytes:
    """Show ``count`` of the archive's ``of`` games; ``more``: there are games in front of these, and behind them."""
    insights = _INSIGHTS._replace(href=WebSite().insights(listed.query(sort=None)))
    position = [(name, listed.values[name]) for name in ("moves", "position") if name in listed.values]
    explorer = _EXPLORER._replace(href=WebSite().explorer(urlencode(position)))
    site = WebSite((_GAMES._replace(here=True), explorer, insights, _LIVE), listed)
    pages = {
        "first": site.listing(listed.query()) if more[0] else None,
        "previous": site.listing(listed.query_at("before", games[0].place)) if more[0] and games else None,
        "next": site.listing(listed.query_at("after", games[-1].place)) if more[1] and games else None,
    }
    title = "Games" if not listed.values else f"Games: {', '.join(value for _, value in listed.chosen)}"
    values = {
        "title": title,
        "description": f"{plural(count, 'game')} of {of:,}" if listed.values else plural(count, "game"),
        "columns": [_column(listed, site, *column) for column in COLUMNS],
        "games": [list_row(game, site, in_progress) for game in games],
        "count": plural(count, "game"),
        "of": plural(of, "played game"),
        "unknown": [f"{plural(number, 'game')} {reason}" for reason, number in unknown.items() if number],
        "without": without and f"{without[:1].upper()}{without[1:]}",
        "unindexed": plural(unindexed, "game") if unindexed else "",
        "chosen": chosen_filters(listed, site.listing),
        "scores": [
            (words, f"{scores[name]:,}", site.listing(listed.query(outcome=name)))
            for name, words in _OUTCOMES
            if name in scores
        ],
        "player": listed.values.get("player"),
        "opponent": listed.values.get("opponent"),
        "score": _score(scores),
        "downloads": [(name, site.download(listed.query(), suffix)) for suffix, name in _FORMATS],
        "pages": pages,
        "form": form_of(listed.values, choices, hidden={} if listed.sort == "-date" else {"sort": listed.sort}),
    }
    return render("games.html", values, site, scripts=("games.js",))


def _score(scores: Mapping[str, int]) -> str:
    """Points of the games with a result: ``7½ of 12``."""
    decided = sum(scores.values())
    whole, half = divmod(2 * scores.get("win", 0) + scores.get("draw", 0), 2)
    points = f"{whole or ('' if half else 0)}{'½' if half else ''}"
    return f"{points} of {decided:,}" if decided else NOTHING


def message_page(
    heading: str,
    sentence: str,
    *,
    values: Mapping[str, str] | None = None,
    choices: Choices | None = None,
) -> bytes:
    site = WebSite((_GAMES, _EXPLORER, _INSIGHTS, _LIVE))
    form = None if values is None else form_of(values, choices or {})
    return render("message.html", {"title": heading, "description": sentence, "sentence": sentence, "form": form}, site)


def login_page(target: str, wrong: bool) -> bytes:
    values = {"title": "Token", "description": "This site asks for its token.", "target": target, "wrong": wrong}
    return render("login.html", values, WebSite(()))


def insights_page(
    asked: Mapping[str, str],
    values: Mapping[str, str],
    choices: Choices,
    *,
    shown: Mapping[str, Any] | None = None,
    codes: Sequence[tuple[str, str]] = (),
    problem: tuple[str, str] | None = None,
) -> bytes:
    """``codes``: each player's name, and the program that computes the same; ``problem``: a word and a sentence."""
    site = WebSite((_GAMES, _EXPLORER, _INSIGHTS._replace(here=True), _LIVE))
    measure, dimensions = asked.get("measure", ""), [asked[name] for name in ("by", "then") if asked.get(name)]
    by = f" by {' and '.join(dimensions)}" if dimensions else ""
    texts = {
        "title": f"Insights: {measure}{by}".replace("-", " ") if measure else "Insights",
        "description": MEASURES[measure].about if measure in MEASURES else "Measures of the use of time.",
        "asked": {name: asked.get(name, "") for name in ("measure", "by", "then", "first", "versus")},
        "measures": [(name, f"{table.about[0].upper()}{table.about[1:]}") for name, table in MEASURES.items()],
        "dimensions": [(name, name.replace("-", " ")) for name in DIMENSIONS],
        "presets": [(text, site.insights(query)) for text, query in PRESETS],
        "shown": shown,
        "codes": [(name, code.split("\n")) for name, code in codes],
        "problem": problem,
        "form": form_of(values, choices),
    }
    return render("insights.html", texts, site, ("games.js",), ("chart.css",))


def lines_page(
    site: WebSite,
    key: str,
    names: tuple[str, str],
    sources: Sequence[tuple[str, str, Sequence[GameLine] | str]],
    ply: int | None,
) -> bytes:
    """``sources`` has each log's id and name, with its lines, or a sentence if they are not available."""
    title = f"{plain_name(names[0])} – {plain_name(names[1])}: lines of the logs"
    values = {
        "title": title,
        "description": "Each line as the log contains it, with its place in bytes.",
        "key": key,
        "sources": sources,
        "around": None if ply is None else f"{(ply + 1) // 2}{'.' if ply % 2 else '…'}",
        "all": site.all_lines(key),
        "ply": ply,
    }
    return render("lines.html", values, replace(site, bar=(*_back(site), BarItem("Game", site.game(key, ply), "up"))))


def live_page(state: LiveState, *, search: str, playing: bool, hide_results: bool) -> bytes:
    wanted = search.lower()
    boards = [
        {
            **board._asdict(),
            "drawn": draw_board(board.squares, board.marked, white_below=not board.flip) if board.squares else None,
            "hidden": wanted not in f"{board.white} {board.black}".lower() or (playing and not board.playing),
            "live": any(session.live and session.id == board.session for session in state.sessions),
        }
        for board in sorted(state.boards.values(), key=lambda board: not board.playing)
    ]
    values = {
        "title": "Live",
        "description": "Games that are being recorded now.",
        "drawings": drawings(WebSite().assets),
        "empty": draw_board(None),
        "state": state,
        "boards": boards,
        "shown": sum(not board["hidden"] for board in boards),
        "search": search,
        "playing": playing,
        "hide_results": hide_results,
    }
    return render(
        "live.html",
        values,
        WebSite((_GAMES, _EXPLORER, _INSIGHTS, _LIVE._replace(here=True))),
        ("spoken.js", "live.js"),
        ("board.css", "live.css"),
    )


def render(
    template: str,
    values: Mapping[str, object],
    site: WebSite,
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    data: object = None,
) -> bytes:
    styles = ("tables.css", "web.css", *styles)
    return render_page(template, values, styles=styles, scripts=scripts, data=data, site=site, folder=_TEMPLATES)


def form_of(
    values: Mapping[str, str],
    choices: Choices,
    *,
    without: Collection[str] = (),
    hidden: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    fields = [field_values(field, values.get(field.name, ""), choices) for field in FIELDS if field.name not in without]
    others = [field for field in fields if not field["first"]]
    return {
        "fields": [field for field in fields if field["first"]],
        "others": others,
        "open": any(field["value"] for field in others),
        "hidden": list((hidden or {}).items()),
    }


def chosen_filters(listed: ListState, address: Callable[[str], str]) -> list[tuple[str, str, str]]:
    return [
        (field.label, _words(field, value), address(listed.query(**{field.name: None})))
        for field, value in listed.chosen
    ]


def field_values(field: Filter, value: str, choices: Choices) -> dict[str, Any]:
    kind = kind_of(field)
    if kind == "date" and not _DAY.fullmatch(value):
        value = ""  # a field for dates takes nothing else
    values: dict[str, Any] = {"name": field.name, "label": field.label, "first": field.first, "kind": kind}
    if kind == "choice":
        pairs = list(field.words.items()) or [
            (choice, about or _words(field, choice)) for choice, about in choices.get(field.name, ())
        ]
        values["words"] = [*pairs, *([] if not value or value in dict(pairs) else [(value, value)])]
    return {**values, "value": value}


VERSUS: Final = field_values(Filter("versus", "", "", label="Compare with"), "", {})  # the field of a second player


def _words(field: Filter, value: str) -> str:
    if field.name == "time":
        return control_words("-" if value == "0+0" else value.replace("s+", "+"))
    return reason_words(value.partition(",")[0]) if field.name == "ending" else value


def _column(listed: ListState, site: WebSite, by: str | None, heading: str, kind: str) -> dict[str, Any]:
    """A heading, and where it leads: to the list sorted by it, the other way round if it is so already."""
    if by is None:
        return {"heading": heading, "kind": kind, "href": None, "way": None}
    sorted_by = listed.order.by == by
    words = kind.startswith("who") or by == "result"
    descend = not listed.order.descending if sorted_by else not words  # words begin with a, numbers with the largest
    way = f"-{by}" if descend else by
    return {
        "heading": heading,
        "label": {"white-rating": "White's rating", "black-rating": "Black's rating"}.get(by, heading),
        "kind": kind,
        "href": site.listing(listed.query(sort=way)),
        "way": None if not sorted_by else "descending" if listed.order.descending else "ascending",
    }


def _back(site: WebSite) -> Iterable[BarItem]:
    yield BarItem("Games", site.listing(site.listed.query() if site.listed else ""), "up")


def game_bar(site: WebSite, key: str, places: Mapping[str, str | None], *, rank: str | None) -> Iterable[BarItem]:
    """``places`` are addresses of the ``previous`` and ``next`` game, ``rank`` is ``12 of 345``."""
    yield from _back(site)
    yield from (_EXPLORER, _INSIGHTS, _LIVE)
    for name, text, rel in (("previous", "‹ Previous", "prev"), ("next", "Next ›", "next")):
        if places.get(name):
            yield BarItem(text, places[name], rel)
        if name == "previous" and rank:
            yield BarItem(rank)
    if site.private:
        yield BarItem("Log lines", site.all_lines(key), at_ply=True)
    yield BarItem("PGN", site.file(key, "pgn"))
    yield BarItem("JSON", site.file(key, "jsonl"))
    if find_spec("PIL") is not None:
        yield BarItem("GIF", site.file(key, "gif"))
