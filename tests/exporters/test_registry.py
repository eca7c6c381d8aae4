"""Every exporter that has a name writes."""

from __future__ import annotations

import io

import pytest

from exporters.registry import EXPORTERS, make_exporter
from recorder.errors import ExportError
from tests.exporters.games import make_game


@pytest.mark.parametrize(("what", "format_name"), [(what, name) for what in EXPORTERS for name in EXPORTERS[what]])
def test_all_write(what: str, format_name: str) -> None:
    out = io.BytesIO()
    report = make_exporter(what, format_name).write([make_game(variant="bughouse" if what == "bpgn" else "chess")], out)
    assert out.getvalue()
    assert (report.games, report.plies) == (1, 7)


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(ExportError, match="'boards'"):
        make_exporter("boards", "csv")
    with pytest.raises(ExportError, match="'xml'"):
        make_exporter("plies", "xml")
