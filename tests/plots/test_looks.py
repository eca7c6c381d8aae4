"""What holds for every picture: colours, foreign words, files, and that nothing global changes."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import matplotlib as mpl
import pandas as pd
import pytest

from exporters.plots import (
    FORMATS,
    THEMES,
    Theme,
    clock_race,
    move_times,
    svg_text,
    think_times,
    write_picture,
    write_table,
)
from exporters.plots.figures import new_figure
from exporters.plots.style import clock_text, duration_text, percent_axis, plain
from tests.support.pictures import labels, title
from tests.support.plyframes import posed

ROOT = Path(__file__).parent.parent.parent
TEN = [0, 0, 2662, 4237, 1000, 2000, 3000, 4000, 5000, 6000]
HOSTILE = "<script>$\\frac{1}{0}$</script>&'\""


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.1 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_colours_differ_from_the_background(theme: Theme) -> None:
    for words in (theme.text, theme.muted):
        assert contrast(words, theme.background) >= 4.5
    for drawn in (theme.white, theme.black, theme.mark, *theme.phases):
        assert contrast(drawn, theme.background) >= 3
    few, many = theme.scale
    assert contrast(few, theme.background) >= 1.5
    assert contrast(many, theme.background) > 2 * contrast(few, theme.background)


def drawn(figure: object, format_name: str) -> bytes:
    out = io.BytesIO()
    write_picture(figure, out, format_name, dpi=40)
    return out.getvalue()


@pytest.mark.parametrize(("format_name", "head"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_same_picture_gives_the_same_bytes(format_name: str, head: bytes) -> None:
    one, other = (drawn(clock_race(posed(TEN)).figure, format_name) for _ in range(2))
    assert one == other
    assert one.startswith(head)
    assert format_name in FORMATS


def test_nothing_global_changes() -> None:
    def settings() -> dict[str, object]:  # to ask for the backend would choose one
        return {name: mpl.rcParams[name] for name in mpl.rcParams if not name.startswith(("backend", "_"))}

    before = settings()
    drawn(think_times(posed(TEN), theme="dark").figure, "svg")
    assert settings() == before


def test_a_notebook_shows_a_figure() -> None:
    figure: Any = clock_race(posed(TEN)).figure
    assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.long
def test_neither_pyplot_nor_a_window_is_needed() -> None:
    code = (
        "import io, sys, exporters.plots as p; p.write_picture(p.new_figure(), io.BytesIO(), 'svg');"
        "print([name for name in sys.modules if name in ('matplotlib.pyplot', 'tkinter')])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert answer.stdout.strip() == "[]"


def test_hostile_handles_are_words() -> None:
    ax = clock_race(posed(TEN, white=HOSTILE, black="_$x$"))
    assert labels(ax)[:2] == [f"{HOSTILE} (white)", "_$x$ (black)"]
    assert title(ax).startswith(HOSTILE)
    text = drawn(ax.figure, "svg").decode()
    root = ElementTree.fromstring(text)
    words = ["".join(part.itertext()) for part in root.iter() if part.tag.endswith("}text")]
    assert f"{HOSTILE} (white)" in words
    assert "_$x$ (black)" in words
    assert "<script" not in text


def test_handles_of_any_alphabet_and_length_are_drawn() -> None:
    long = "W" * 300
    ax = move_times(posed(TEN, white="将棋\u202e\x00\n名人", black=long))
    (_, black) = labels(ax)
    assert len(black) < 100
    assert "\n" not in labels(ax)[0]
    assert "将棋" in drawn(ax.figure, "svg").decode()
    drawn(ax.figure, "png")


def test_long_words_lose_their_middle() -> None:
    assert plain("a" * 50 + "b", 11) == "aaaaaaa…aab"
    assert len(plain("x" * 99)) == 40
    assert plain("tab\there") == "tab\ufffdhere"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(297.3, "4:57.3"), (0, "0:00"), (-0.9, "−0:00.9"), (3897, "1:04:57"), (59.96, "1:00"), (-75, "−1:15")],
)
def test_clocks_as_words(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text


@pytest.mark.parametrize("most", [0.004, 0.03, 0.079, 0.1625, 0.21, 0.5, 1.0, 3.7, 40.0])
def test_ticks_of_shares_are_written_as_they_are(most: float) -> None:
    ax = new_figure().add_subplot()
    ax.set_ylim(0, most)
    percent_axis(ax.yaxis, most)
    shown = [(tick, label.get_text()) for tick, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)]
    assert 3 <= sum(0 <= tick <= most for tick, _ in shown) <= 8
    assert all(
        float(text.rstrip("%").replace("\N{MINUS SIGN}", "-")) == pytest.approx(tick * 100) for tick, text in shown
    )


def test_durations_are_no_finer_than_what_was_printed() -> None:
    assert duration_text(1250) == "1.2 s"
    assert duration_text(250) == "250 ms"
    assert duration_text(1250, whole_seconds=True) == "1 s"
    assert duration_text(3_676_000) == "1:01:16 h"
    assert duration_text(65_000) == "1:05 min"


def test_svg_in_a_page_has_names_of_its_own() -> None:
    text = svg_text(clock_race(posed(TEN, white='id="ply-3"')).figure, "race-")
    assert text.startswith("<svg")
    ids = re.findall(r'<[^>]*\bid="([^"]*)"', text)
    assert "race-ply-3" in ids
    assert all(name.startswith("race-") for name in ids)
    assert len(ids) == len(set(ids))
    for name in re.findall(r'(?:href="#|url\(#)([^")]*)', text):
        assert name in ids
    words = ["".join(part.itertext()) for part in ElementTree.fromstring(text).iter()]
    assert 'id="ply-3" (white)' in words
    with pytest.raises(ValueError, match="cannot begin"):
        svg_text(clock_race(posed(TEN)).figure, '"><script>')


def test_tables_in_every_format() -> None:
    table = pd.DataFrame({"ply": [1, 2], "clock_after_ms": pd.array([300_000, None], dtype="Int64")})
    written = {}
    for format_name in ("csv", "jsonl", "parquet"):
        out = io.BytesIO()
        write_table(table, out, format_name)
        written[format_name] = out.getvalue()
    assert written["csv"] == b"ply,clock_after_ms\n1,300000\n2,\n"
    assert written["jsonl"] == b'{"ply":1,"clock_after_ms":300000}\n{"ply":2,"clock_after_ms":null}\n'
    assert pd.read_parquet(io.BytesIO(written["parquet"])).equals(table)


def test_a_relation_is_written_as_a_frame_is() -> None:
    whole = pd.DataFrame({"mover": ["=1+1", None, "Ann"], "ms": pd.array([None, 1, 2], dtype="Int64")})
    for format_name in ("csv", "jsonl", "parquet"):
        of_frame, of_rows = io.BytesIO(), io.BytesIO()
        assert write_table(whole, of_frame, format_name) == 3
        with duckdb.connect() as connection:
            assert write_table(connection.from_df(whole), of_rows, format_name) == 3
        if format_name != "parquet":
            assert of_frame.getvalue() == of_rows.getvalue()
            continue
        first, second = (
            pd.read_parquet(io.BytesIO(one.getvalue()), dtype_backend="numpy_nullable") for one in (of_frame, of_rows)
        )
        pd.testing.assert_frame_equal(first, second)


def test_a_handle_that_looks_like_a_formula_is_no_formula_in_csv() -> None:
    table = pd.DataFrame({"player": pd.Categorical(["=1+1", None]), "san": ["--", "e4"], "lead_ms": [-1500, 0]})
    for raw, handle in ((False, b"'=1+1"), (True, b"=1+1")):
        out = io.BytesIO()
        write_table(table, out, "csv", raw=raw)
        assert out.getvalue() == b"player,san,lead_ms\n" + handle + b",--,-1500\n,e4,0\n"


def test_a_picture_without_layout_is_drawn_once_as_savefig_draws_it(monkeypatch: pytest.MonkeyPatch) -> None:
    figure: Any = clock_race(posed(TEN)).figure
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    once = svg_text(figure)
    monkeypatch.setattr(figure, "get_constrained_layout", lambda: True)
    assert svg_text(figure) == once
