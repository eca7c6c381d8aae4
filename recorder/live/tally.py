"""How many of the games that were asked for are recorded, and why others are not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["Tally"]


@dataclass(slots=True)
class Tally:
    """Games that matched and are over, over all connections.

    Attributes:
        whole: recorded from the first board to the end. partly: something of them is missing.
        recovered: taken from a list afterwards. missed: nothing of them is there.
        pending: a list of them is being asked for.
        why: of those that are missed or there in part, by reason.
    """

    whole: int = 0
    partly: int = 0
    recovered: int = 0
    missed: int = 0
    pending: int = 0
    why: Counter[str] = field(default_factory=Counter)

    @property
    def matched(self) -> int:
        """All of them."""
        return self.whole + self.partly + self.recovered + self.missed + self.pending

    def lost(self, reason: str, *, partly: bool) -> None:
        """One that no list can complete."""
        self.partly += partly
        self.missed += not partly
        self.why[reason] += 1

    @property
    def words(self) -> str:
        """The same in short: ``24 matched and over, 22 whole, 2 missed``."""
        named = (("in part", self.partly), ("from a list", self.recovered), ("missed", self.missed))
        parts = [f"{self.matched:,} matched and over", f"{self.whole:,} whole"]
        parts += [f"{count:,} {name}" for name, count in named if count]
        parts += [f"{self.pending:,} being looked for"] if self.pending else []
        return ", ".join(parts)

    @property
    def sentence(self) -> str:
        """The same with the reasons."""
        reasons = "; ".join(f"{count:,}: {reason}" for reason, count in self.why.most_common())
        return f"Games: {self.words}{f' ({reasons})' if reasons else ''}."

    def facts(self) -> dict[str, int]:
        """The same as values with names."""
        return {
            "matched": self.matched,
            "whole": self.whole,
            "partly": self.partly,
            "recovered": self.recovered,
            "missed": self.missed,
        }
