"""The answers about insights: a measure of the games that match filters."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from exporters.report.page import plain_name, visible
from recorder.archive.exporting import require_variants
from recorder.archive.insights import compute_insight
from recorder.archive.locate import open_archive
from recorder.errors import ExportError, SearchTimeoutError, StorageError
from recorder.web.answers import FormChoices, page, reached
from recorder.web.insights import InsightState, python_code, read_insight, shown_insight
from recorder.web.links import WebSite
from recorder.web.pages import insights_page
from storage import ArchiveStore

__all__ = ["COMPUTING_S", "InsightAnswers"]

COMPUTING_S: Final = 30.0
"""How long the computation of a measure may take, the wait for others included."""

_COMPUTED_AT_ONCE: Final = 2
_COUNTING_S: Final = 2.0
"""How long rows of insights are compared with lists of games."""


class InsightAnswers:
    """The insights of an archive.

    Args:
        where: the archive, as ``--db`` names it. choices: the values that its forms offer. public: without its path.
    """

    def __init__(self, where: str, choices: FormChoices, *, public: bool) -> None:
        self._where = where
        self._choices = choices
        self._public = public
        # Not the threads of other requests: computations that wait for each other must not take them all.
        self._computing = ThreadPoolExecutor(_COMPUTED_AT_ONCE, "insights")

    async def insights(self, request: Request) -> Response:
        """A measure of the games that match filters, of one player or of two."""
        pairs = [(name, value) for name, value in request.query_params.multi_items() if value.strip()]
        if len(pairs) < len(request.query_params.multi_items()):
            return RedirectResponse(WebSite().insights(urlencode(pairs)), 303)
        ends_at_s = time.monotonic() + COMPUTING_S
        return await asyncio.get_running_loop().run_in_executor(self._computing, self._insights, pairs, ends_at_s)

    def _insights(self, pairs: list[tuple[str, str]], ends_at_s: float) -> Response:
        asked, choices = dict(pairs), self._choices.current()

        def problem(status: int, heading: str, sentence: str) -> Response:
            return page(insights_page(asked, asked, choices, problem=(heading, visible(sentence))), status)

        try:
            state = read_insight(pairs)
            if state.measure is None:
                return page(insights_page(asked, state.listed.values, choices))
            with open_archive(self._where) as archive, archive.snapshot():
                for _, listed in state.players():
                    require_variants(archive, listed.where)
                if not any(archive.count(reached(archive, listed).where) for _, listed in state.players()):
                    return problem(200, "No results", "No game matches these filters.")
                return self._computed(archive, state, asked, ends_at_s)
        except SearchTimeoutError as error:
            return problem(503, "Timed out", f"{error} Add filters that exclude more games, or use Python.")
        except (ExportError, StorageError) as error:
            if isinstance(error, StorageError) and "variant" not in asked:
                raise
            return problem(400, "Not understood", str(error))

    def _computed(
        self, archive: ArchiveStore, state: InsightState, asked: Mapping[str, str], ends_at_s: float
    ) -> Response:
        assert state.measure is not None
        computed = []
        for name, given in state.players():
            listed = reached(archive, given)
            if archive.count(listed.where):
                limits = {"ends_at_s": ends_at_s, "limit_s": COMPUTING_S}
                computed.append(
                    (name, listed, compute_insight(archive, listed.where, state.measure, state.by, **limits))
                )
        until_s = min(ends_at_s, time.monotonic() + _COUNTING_S)
        shown = shown_insight(
            state,
            computed,
            lambda listed: None if time.monotonic() > until_s else archive.count(reached(archive, listed).where),
            WebSite(),
        )
        missing = {name for name, _ in state.players()} - {name for name, _, _ in computed}
        shown["counts"] += [f"{plain_name(name)}: no game matches these filters." for name in sorted(missing)]
        path = "games.sqlite" if self._public else str(archive.path)
        codes = [(name, python_code(state, listed, insight, path)) for name, listed, insight in computed]
        html = insights_page(asked, state.listed.values, self._choices.current(), shown=shown, codes=codes)
        return page(html)
