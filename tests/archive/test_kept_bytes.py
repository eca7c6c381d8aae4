"""Lines of kept bytes by their offsets, for any chunks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recorder.archive.reading.kept_bytes import lines_at


@given(
    st.lists(st.binary(max_size=12).map(lambda text: text.replace(b"\n", b"").replace(b"\r", b"")), max_size=20),
    st.sampled_from([b"\n", b"\n\r", b"\r\n"]),
    st.integers(1, 9),
    st.data(),
)
def test_lines_at(texts: list[bytes], end: bytes, size: int, data: st.DataObject) -> None:
    whole = end.join(texts)
    offsets = [sum(len(text) + len(end) for text in texts[:place]) for place in range(len(texts))]
    wanted = sorted(data.draw(st.sets(st.sampled_from(range(len(texts))))) if texts else [])
    start = offsets[wanted[0]] if wanted else 0
    blocks = [whole[at : at + size] for at in range(start, len(whole), size)]
    found = list(lines_at(blocks, start, [offsets[place] for place in wanted]))
    assert found == [(offsets[place], texts[place]) for place in wanted]


def test_an_endless_line_is_cut() -> None:
    ((offset, line),) = lines_at([b"x" * 40_000] * 5, 0, [3])
    assert offset == 3
    assert 0 < len(line) <= 1 << 16
