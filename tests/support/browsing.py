"""How tests open pages in a browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, ViewportSize

DESK = ViewportSize(width=1280, height=900)

Open = Callable[..., Page]
