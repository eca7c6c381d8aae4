"""Shared computations: each runs once, for as long as clients ask for it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from recorder.errors import SearchTimeoutError
from recorder.web import computing
from recorder.web.computing import AbandonedError, Computation, Computations


def ended(computation: Computation) -> bool:
    return asyncio.run(computation.within(10))


def test_a_result_is_kept_only_for_clients_that_waited_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    computations, go, calls = Computations(), threading.Event(), []

    def compute(_computation: Computation) -> int:
        calls.append(go.wait(10))
        return len(calls)

    first = computations.ask("a", compute)
    assert first is computations.ask("a", compute)
    assert first is not None
    assert not asyncio.run(first.within(0))
    go.set()
    assert ended(first)
    assert computations.ask("a", compute) is first
    assert first.result() == 1
    monkeypatch.setattr(computing, "KEPT_S", -1.0)
    second = computations.ask("a", compute)
    assert second is not None
    assert ended(second)
    assert second.result() == 2
    third = computations.ask("a", compute)  # no client waits for the second one
    assert third is not second
    assert third is not None
    assert ended(third)


def test_a_computation_that_no_client_asks_for_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    computations, go = Computations(), threading.Event()

    def compute(computation: Computation) -> None:
        go.wait(10)
        computation.progress(0, 5)

    found = computations.ask("a", compute)
    assert found is not None
    assert not asyncio.run(found.within(0))
    monkeypatch.setattr(computing, "_ABANDONED_S", -1.0)
    go.set()
    assert ended(found)
    with pytest.raises(AbandonedError):
        found.result()
    monkeypatch.undo()
    again = computations.ask("a", compute)
    assert again is not found
    assert again is not None
    assert ended(again)
    assert (again.read, again.total, again.reading, again.result()) == (0, 5, 1, None)


def test_an_ending_site_and_the_time_limit_stop_computations(monkeypatch: pytest.MonkeyPatch) -> None:
    computations, go = Computations(), threading.Event()

    def compute(computation: Computation) -> None:
        go.wait(10)
        computation.progress(1, 5)

    stopped = [computations.ask(name, compute) for name in "abc"]
    computations.close()
    go.set()
    for one in stopped:
        assert one is not None
        assert ended(one)
        with pytest.raises(AbandonedError):
            one.result()
    monkeypatch.setattr(computing, "COMPUTING_S", -1.0)
    late = Computations().ask("a", compute)
    assert late is not None
    assert ended(late)
    with pytest.raises(SearchTimeoutError, match="took longer"):
        late.result()
