"""What holds for every picture: colours, foreign words, files, and that nothing global changes."""

import io
import re
from xml.etree import ElementTree

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
from exporters.plots.style import percent_axis
from tests.support.effort import long_after
from tests.support.pictures import labels, title
from tests.support.plyframes import posed

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


@pytest.mark.parametrize(
    ("format_name", "head"), long_after(1, [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
)
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
    table = pd.DataFrame({"by": [1, 2], "clock_after_ms": pd.array([300_000, None], dtype="Int64")})
    written = {}
    for format_name in ("csv", "jsonl", "parquet"):
        out = io.BytesIO()
        write_table(table, out, format_name)
        written[format_name] = out.getvalue()
    assert written["csv"] == b"by,clock_after_ms\n1,300000\n2,\n"
    assert written["jsonl"] == b'{"by":1,"clock_after_ms":300000}\n{"by":2,"clock_after_ms":null}\n'
    assert pd.read_parquet(io.BytesIO(written["parquet"])).equals(table)
