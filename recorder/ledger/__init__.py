"""Do the clocks add up? One entry for each move: what the mover's clock was, what the move cost, what was left.

The rule is ``before - elapsed + increment = after`` (help "style12", help "clocks" and the servers' sources). What is
left over, the residual, gets a cause only if the log proves it: a board that shows the clock from which the rule holds
again, a line with exactly this sum, or a bound that nothing else keeps. What no line or board proves is unexplained.

Facts that boards show are read from them: the clocks at the start are those of the first board (the time
control only where none was seen), the unit is that of each ply, whether first moves are free is read off them, and a
clock of a board that was joined in mid-game is one that was running. Clocks are not judged in an untimed game, in
an examination, or where the clock itself was computed from elapsed times.

How much of the time was thinking: docs/explanation/clocks-and-lag.md.
"""

from recorder.ledger.entries import EntryRow, LedgerEntry, ledger, ledger_rows
from recorder.ledger.proofs import Cause

__all__ = ["Cause", "LedgerEntry", "EntryRow", "ledger", "ledger_rows"]
