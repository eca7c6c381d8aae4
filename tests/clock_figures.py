"""How the clocks of every recorded stream add up: ``python -m tests.clock_figures`` prints docs/fidelity.md's table."""

from collections import Counter
from collections.abc import Iterable

from recorder.ledger import Cause, LedgerEntry, ledger
from recorder.model import GameKind
from tests.support import corpus, product

ROWS = {"a": "A", "b": "B", "c": "C", "x": "A and B, xboard's own logs"}
NOT_KNOWN = "times not known"

Figures = dict[str, Counter[str]]


def figures(scenarios: Iterable[str]) -> tuple[Figures, list[tuple[str, str, LedgerEntry]]]:
    """Moves of played games by server and cause, and every entry that nothing explains with its stream."""
    counts: Figures = {name: Counter() for name in ROWS.values()}
    unexplained: list[tuple[str, str, LedgerEntry]] = []
    for scenario in scenarios:
        for stream in corpus.streams(scenario):
            games, _ = product.run([corpus.stream_bytes(stream.scenario, stream.connection)], stream.kind)
            count = counts[ROWS["x" if stream.kind == "xboard" else scenario[0]]]
            for game in games:
                if game.kind is not GameKind.PLAYED:
                    continue
                for entry in ledger(game):
                    count[NOT_KNOWN if entry.cause is None else entry.cause.value] += 1
                    if entry.cause is Cause.UNEXPLAINED:
                        unexplained.append((*stream[:2], entry))
    return counts, unexplained


def table(counts: Figures) -> str:
    """The figures as a table in Markdown; causes that no move has are not in it."""
    found = sum(counts.values(), Counter[str]())
    names = [cause.value for cause in Cause if found[cause.value] or cause is Cause.UNEXPLAINED]
    lines = [["servers", "moves", *names, NOT_KNOWN]]
    for server, count in counts.items():
        moves = count.total() - count[NOT_KNOWN]
        lines.append([server, f"{moves:,}", *(f"{count[name]:,}" for name in names), f"{count[NOT_KNOWN]:,}"])
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("| --- ", "|---").replace("--- |", "---|")


if __name__ == "__main__":
    print(table(figures(corpus.scenarios())[0]), end="")
