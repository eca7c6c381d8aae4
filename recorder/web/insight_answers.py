"""The answers about insights: a measure of the games that match filters."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from exporters.report.page import plain_name, visible
from recorder.archive.exporting import require_variants
from recorder.archive.insights import compute_insight
from recorder.archive.locate import open_archive
from recorder.errors import ExportError, SearchTimeoutError, StorageError
from recorder.web.answers import SEARCH_S, FormChoices, page, reached
from recorder.web.insights import python_code, read_insight, shown_insight
from recorder.web.links import WebSite
from recorder.web.pages import insights_page

_COUNTING_S: Final = 2.0
"""How long rows of insights are compared with lists of games."""


class InsightAnswers:
    """The insights of an archive; ``public`` without the archive's path."""

    def __init__(self, where: str, choices: FormChoices, *, public: bool) -> None:
        self._where = where
        self._choices = choices
        self._public = public

    def insights(self, request: Request) -> Response:
        """A measure of the games that match filters, of one player or of two."""
        pairs = [(name, value) for name, value in request.query_params.multi_items() if value.strip()]
        if len(pairs) < len(request.query_params.multi_items()):
            return RedirectResponse(WebSite().insights(urlencode(pairs)), 303)
        return self._answer(pairs)

    def _answer(self, pairs: list[tuple[str, str]]) -> Response:
        asked = dict(pairs)
        try:
            return self._computed(pairs, asked)
        except SearchTimeoutError as error:
            return self._insights_problem(asked, 503, "Timed out", f"{error} Add filters that exclude more games.")
        except (ExportError, StorageError) as error:
            if isinstance(error, StorageError) and "variant" not in asked:
                raise
            return self._insights_problem(asked, 400, "Not understood", str(error))

    def _computed(self, pairs: list[tuple[str, str]], asked: Mapping[str, str]) -> Response:
        """The page of what an address asks for."""
        state = read_insight(pairs)
        if state.measure is None:
            return page(insights_page(asked, state.listed.values, self._choices.current()))
        with open_archive(self._where) as archive, archive.snapshot():
            computed, missing = [], []
            for name, given in state.players():
                require_variants(archive, given.where)
                listed = reached(archive, given)
                if archive.count(listed.where, limit_s=SEARCH_S):
                    computed.append((name, listed, compute_insight(archive, listed.where, state.measure, state.by)))
                else:
                    missing.append(name)
            if not computed:
                return self._insights_problem(asked, 200, "No results", "No game matches these filters.")
            until_s = time.monotonic() + _COUNTING_S
            shown = shown_insight(
                state,
                computed,
                lambda listed: None if time.monotonic() > until_s else archive.count(reached(archive, listed).where),
                WebSite(),
            )
            path = "games.sqlite" if self._public else str(archive.path)
        shown["counts"] += [f"{plain_name(name)}: no game matches these filters." for name in missing]
        codes = [(name, python_code(state, listed, insight, path)) for name, listed, insight in computed]
        return page(insights_page(asked, state.listed.values, self._choices.current(), shown=shown, codes=codes))

    def _insights_problem(self, asked: Mapping[str, str], status: int, heading: str, sentence: str) -> Response:
        problem = (heading, visible(sentence))
        return page(insights_page(asked, asked, self._choices.current(), problem=problem), status)
