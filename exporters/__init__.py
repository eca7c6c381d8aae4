"""Exports of an archive: files for other programs, and tables for pandas."""

from __future__ import annotations
