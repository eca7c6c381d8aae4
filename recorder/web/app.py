"""The site: which answer each address has. Archives are opened for each request, read-only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from recorder.archive.locate import open_archive
from recorder.errors import RecorderError
from recorder.web.answers import FormChoices, failed, not_found, page
from recorder.web.game_answers import GameAnswers
from recorder.web.insight_answers import InsightAnswers
from recorder.web.list_answers import ListAnswers
from recorder.web.live_feed import LiveFeed
from recorder.web.pages import live_page, login_page, message_page
from recorder.web.security import Access, Guard

__all__ = ["make_app"]


def make_app(where: str, access: Access, feed: LiveFeed) -> Guard:
    """The site of an archive.

    Args:
        where: the archive, as ``--db`` names it. access: who may read what. feed: what running recordings see.
    Raises:
        StorageError: the archive cannot be used.
    """
    with open_archive(where):  # it can be used
        choices = FormChoices(where)
    public = not access.private
    lists, games = ListAnswers(where, choices, public=public), GameAnswers(where, public=public)
    insights, live = InsightAnswers(where, choices, public=public), _Live(feed)
    routes = [
        Route("/", lists.games),
        Route("/games.{suffix}", lists.download),
        Route("/insights", insights.insights),
        Route("/players.json", lists.handles),
        Route("/explorer", lists.explorer),
        Route("/login", lambda _request: RedirectResponse("/", 303)),
        Route("/game/{key}.{suffix}", games.game_file),
        Route("/game/{key}", games.game),
        Route("/game/{key}/lines", games.lines),
        Route("/player/{handle:path}", games.player),
        Route("/live", live.page),
        Route("/live/events", live.events),
    ]
    handlers: Mapping[Any, Callable[..., Response]] = {404: not_found, 405: not_found, RecorderError: failed}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access, login_page, message_page)


class _Live:
    """The page of running recordings; it needs no archive."""

    def __init__(self, feed: LiveFeed) -> None:
        self._feed = feed

    def page(self, request: Request) -> Response:
        """The boards as they are now; the page's script keeps them so."""
        chosen = request.query_params
        return page(
            live_page(
                self._feed.look(),
                search=chosen.get("q", "").strip(),
                playing=bool(chosen.get("playing")),
                hide_results=bool(chosen.get("hide")),
            )
        )

    async def events(self, _request: Request) -> Response:
        """What changes, as server-sent events."""
        return StreamingResponse(self._feed.events(), 200, media_type="text/event-stream")
