"""The answers about insights: a measure of the games that match filters."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from exporters.report.page import plain_name, visible
from recorder.archive.exporting import require_variants
from recorder.archive.insights import Insight, compute_insight
from recorder.archive.locate import open_archive
from recorder.errors import ExportError, SearchTimeoutError, StorageError
from recorder.web.answers import SEARCH_S, FormChoices, page, reached
from recorder.web.computing import AbandonedError, Computation, Computations
from recorder.web.insights import InsightState, python_code, read_insight, shown_insight
from recorder.web.links import WebSite
from recorder.web.listing import ListState
from recorder.web.pages import insights_page, progress_words

__all__ = ["InsightAnswers"]

_LOOK_S: Final = 3.0
"""How long a request waits for a computation, before its page says "Still searching"."""

_COUNTING_S: Final = 2.0
"""How long rows of insights are compared with lists of games."""


class InsightAnswers:
    """The insights of an archive.

    Args:
        where: the archive, as ``--db`` names it. choices: the values that its forms offer.
        computations: those of the site. public: without the archive's path.
    """

    def __init__(self, where: str, choices: FormChoices, computations: Computations, *, public: bool) -> None:
        self._where = where
        self._choices = choices
        self._public = public
        self._computations = computations

    async def insights(self, request: Request) -> Response:
        """A measure of the games that match filters, of one player or of two."""
        pairs = [(name, value) for name, value in request.query_params.multi_items() if value.strip()]
        if len(pairs) < len(request.query_params.multi_items()):
            return RedirectResponse(WebSite().insights(urlencode(pairs)), 303)
        state = await run_in_threadpool(self._read_insight, pairs)
        if isinstance(state, Response):
            return state
        asked = dict(pairs)
        found = self._computations.ask(_name(state), lambda computation: self._compute(state, computation))
        if found is None:
            sentence = "Many other computations are running. Try again in a minute."
            return await run_in_threadpool(self._insights_problem, asked, 503, "Busy", sentence)
        if not await found.within(_LOOK_S):
            return await run_in_threadpool(self._searching, asked, state, found)
        return await run_in_threadpool(self._found, asked, state, found)

    def _read_insight(self, pairs: list[tuple[str, str]]) -> InsightState | Response:
        """What an address asks for; a page if nothing is to be computed."""
        asked = dict(pairs)
        try:
            state = read_insight(pairs)
            if state.measure is None:
                return page(insights_page(asked, state.listed.values, self._choices.current()))
            if self._computations.known(_name(state)):  # its games were counted when it began
                return state
            with open_archive(self._where) as archive, archive.snapshot():
                for _, listed in state.players():
                    require_variants(archive, listed.where)
                if any(archive.count(reached(archive, one).where, limit_s=SEARCH_S) for _, one in state.players()):
                    return state
        except SearchTimeoutError as error:
            return self._insights_problem(asked, 503, "Timed out", f"{error} Add filters that exclude more games.")
        except (ExportError, StorageError) as error:
            if isinstance(error, StorageError) and "variant" not in asked:
                raise
            return self._insights_problem(asked, 400, "Not understood", str(error))
        return self._insights_problem(asked, 200, "No results", "No game matches these filters.")

    def _insights_problem(self, asked: Mapping[str, str], status: int, heading: str, sentence: str) -> Response:
        problem = (heading, visible(sentence))
        return page(insights_page(asked, asked, self._choices.current(), problem=problem), status)

    def _compute(self, state: InsightState, computation: Computation) -> list[tuple[str, ListState, Insight]]:
        """The tables of the players; of those who have games."""
        assert state.measure is not None
        computed = []
        with open_archive(self._where) as archive, archive.snapshot():
            for name, given in state.players():
                listed = reached(archive, given)
                if archive.count(listed.where):
                    insight = compute_insight(archive, listed.where, state.measure, state.by, computation.progress)
                    computed.append((name, listed, insight))
        return computed

    def _searching(self, asked: Mapping[str, str], state: InsightState, computation: Computation) -> Response:
        """The page of a computation that has not ended; the browser asks again."""
        words = progress_words(computation)
        answer = page(insights_page(asked, state.listed.values, self._choices.current(), searching=words), 202)
        answer.headers["refresh"] = "1"
        return answer

    def _found(self, asked: Mapping[str, str], state: InsightState, computation: Computation) -> Response:
        """The page of a computation that has ended."""
        try:
            computed = computation.result()
        except AbandonedError:
            return self._searching(asked, state, computation)
        except SearchTimeoutError as error:
            sentence = f"{error} Add filters that exclude more games, or use Python."
            return self._insights_problem(asked, 503, "Timed out", sentence)
        except ExportError as error:
            return self._insights_problem(asked, 400, "Not understood", str(error))
        with open_archive(self._where) as archive, archive.snapshot():
            until_s = time.monotonic() + _COUNTING_S
            shown = shown_insight(
                state,
                computed,
                lambda listed: None if time.monotonic() > until_s else archive.count(reached(archive, listed).where),
                WebSite(),
            )
            path = "games.sqlite" if self._public else str(archive.path)
        missing = {name for name, _ in state.players()} - {name for name, _, _ in computed}
        shown["counts"] += [f"{plain_name(name)}: no game matches these filters." for name in sorted(missing)]
        codes = [(name, python_code(state, listed, insight, path)) for name, listed, insight in computed]
        return page(insights_page(asked, state.listed.values, self._choices.current(), shown=shown, codes=codes))


def _name(state: InsightState) -> str:
    """The name of the computation: all pictures are made of one."""
    return replace(state, figure=None).query()
