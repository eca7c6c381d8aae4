"""The reader of PyChess (Debian) as a reader of conformance cases; the results are in docs/protocol/results.md.

Run it with the Python that PyChess is installed for. Bytes go through PyChess's own stream protocol with a time seal,
its lines and blocks, and the patterns that its ``BoardManager`` registers; its ``parseStyle12`` reads boards. Only what
PyChess then does with games and windows is replaced. It asks for milliseconds, so it reads all clocks as such.
"""

# ruff: noqa: E402 - PyGObject wants to hear its versions before anything else is imported
import asyncio
import base64
import json
import sys
from collections import defaultdict

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("GtkSource", "3.0")

from pychess import VERSION
from pychess.ic.managers.BoardManager import BoardManager
from pychess.ic.TimeSeal import ICSStreamReaderProtocol
from pychess.ic.VerboseTelnet import FromToPrediction, LinePrediction, NLinesPrediction, PredictionsTelnet
from pychess.Utils.const import BLACK

READS = {
    "boards": (
        "ranks turn castling game relation ply move_number white black white_clock_ms black_clock_ms increment_s pretty"
    ),
    "results": "game white black result reason",
}
PROMPT = "fics%"


class EndedError(Exception):
    """The stream has no more lines."""


class Connection:
    """What a ``BoardManager`` needs of a connection when it registers its patterns."""

    USCN = FatICS = ICC = False
    username = "case"

    def __init__(self):
        self.predictions = []
        self.replies = defaultdict(list)
        self.client = self.lvm = self

    def run_command(self, command):
        """Nothing is sent."""

    def autoFlagNotify(self):  # noqa: N802 - PyChess's name
        """Nothing is sent."""

    def expect_line(self, callback, pattern):
        self.expect(LinePrediction(callback, pattern))

    def expect_n_lines(self, callback, *patterns):
        self.expect(NLinesPrediction(callback, *patterns))

    def expect_fromto(self, callback, first, last):
        self.expect(FromToPrediction(callback, first, last))

    def expect(self, prediction):
        self.predictions.append(prediction)
        if hasattr(prediction.callback, "BLKCMD"):
            self.replies[prediction.callback.BLKCMD].append(prediction)


class Reader(BoardManager):
    """PyChess's patterns, and facts instead of games."""

    def __init__(self, connection, facts):
        self.facts = facts
        super().__init__(connection)

    def note_board(self, text):
        game, relation, turn, ply, white, black, white_ms, black_ms, gain, move, fen = self.parseStyle12(
            text, ("k", "q")
        )
        position, _, rights, _, _, move_number = fen.split()
        ranks = ["".join("-" * int(sign) if sign.isdigit() else sign for sign in row) for row in position.split("/")]
        self.facts["boards"].append(
            {
                "ranks": ranks,
                "castling": "".join("01"[right in rights] for right in "KQkq"),
                "move_number": int(move_number),
                "game": game,
                "relation": relation,
                "turn": "B" if turn == BLACK else "W",
                "ply": ply,
                "white": white,
                "black": black,
                "white_clock_ms": white_ms,
                "black_clock_ms": black_ms,
                "increment_s": gain,
                "pretty": move,
            }
        )

    def onStyle12(self, match):  # noqa: N802 - PyChess's name
        self.note_board(match.groups()[0])

    def last_board(self, matches):
        self.note_board(matches[-1].groups()[0])

    onPlayGameCreated = onExamineGameCreated = onObserveGameCreated = last_board  # noqa: N815 - PyChess's names

    def on_game_remove(self, match):
        game, white, black, reason, result = match.groups()
        end = {"game": int(game), "white": white, "black": black, "result": result, "reason": reason}
        self.facts["results"].append(end)

    def ignore(self, match):
        """A line of a kind that is not claimed."""

    onObserveGameMovesReceived = onArchiveGameSMovesReceived = ignore  # noqa: N815 - PyChess's names
    onGamePause = onWasPrivate = onUnobserveGame = ignore  # noqa: N815 - PyChess's names
    made_examined = made_unexamined = ignore


class Lines:
    """The lines of one stream, as PyChess's telnet gives them."""

    name = "case"
    sensitive = False

    def __init__(self, data):
        protocol = ICSStreamReaderProtocol.__new__(ICSStreamReaderProtocol)
        protocol.name, protocol.connected, protocol.timeseal, protocol.stateinfo = "case", True, True, None
        protocol._stream_writer = self
        self.lines = protocol.cook_some(data).decode("latin-1").split("\n")

    def write(self, data):
        """The answer to a ping is not sent."""

    async def readline(self):
        if not self.lines:
            raise EndedError
        return self.lines.pop(0).strip()


async def read(data):
    """All facts of a stream, by kind."""
    facts = {kind: [] for kind in READS}
    connection = Connection()
    Reader(connection, facts)
    telnet = PredictionsTelnet(Lines(data), connection.predictions, connection.replies, {}, {})
    telnet.lines.block_mode = True
    telnet.lines.line_prefix = PROMPT
    while True:
        try:
            await telnet.parse()
        except EndedError:
            return facts
        except Exception as error:
            print(f"line rejected: {error!r}", file=sys.stderr)


claims = [f"{kind}.{field}" for kind, fields in READS.items() for field in fields.split()]
print(json.dumps({"program": f"PyChess {VERSION}", "reads": claims, "servers": ["fics", "fatics"]}), flush=True)
for request in map(json.loads, sys.stdin):
    found = asyncio.run(read(base64.b64decode(request["input"])))
    print(json.dumps({"id": request["id"], **found}), flush=True)
