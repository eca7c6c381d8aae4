"""PyChess as a client that follows games and saves them: ``pychess_client.py PORT PLACE FILE GAMES``.

Run by the Python that PyChess is installed for: its own connection, game and PGN modules without their windows. It
logs in on this machine with a time seal, goes to PLACE of the replay, follows everybody, appends every game that has
ended to FILE and leaves after so many. The server's replay pauses where games begin and end, so that it waits for
PyChess on a slow machine. What the server does not know is an error, as is what PyChess cannot read.
"""

# ruff: noqa: E402 - PyGObject wants to hear its versions before anything else is imported
from __future__ import annotations

import asyncio
import sys
from io import StringIO

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("GtkSource", "3.0")

from pychess.ic.FICSConnection import FICSMainConnection
from pychess.ic.ICGameModel import ICGameModel
from pychess.Players.ICPlayer import ICPlayer
from pychess.Savers import pgn
from pychess.Utils.const import BLACK, WHITE
from pychess.Utils.TimeModel import TimeModel


class Follower:
    """Logged in until all games are saved."""

    def __init__(self, port, place, path, count):
        self.place, self.path, self.count = place, path, count
        self.done = asyncio.get_running_loop().create_future()
        self.connection = FICSMainConnection("127.0.0.1", [port], True, "Looker")
        self.connection.connect("connected", self.connected)
        self.connection.connect("error", lambda _, error: self.fail(error))

    def fail(self, why):
        if not self.done.done():
            self.done.set_exception(RuntimeError(str(why)))

    def connected(self, _):
        unknown = self.connection.em.connect
        unknown("onCommandNotFound", lambda _, command: self.fail(f"the server does not know {command}"))
        self.connection.bm.connect("obsGameCreated", self.begins)
        self.say("tell replay play", "tell replay pause", f"tell replay seek {self.place}", "follow *")

    def say(self, *commands):
        for command in commands:
            self.connection.client.run_command(command)

    def begins(self, _, game):
        model = ICGameModel(self.connection, game, TimeModel(game.minutes * 60, game.inc))
        model.connect("game_started", lambda _: self.started(game))
        model.connect("game_ended", lambda model, _: asyncio.ensure_future(self.save(model)))
        sides = ((game.wplayer, WHITE), (game.bplayer, BLACK))
        model.setPlayers([ICPlayer(model, who.name, game.gameno, side, who.long_name()) for who, side in sides])
        model.loadAndStart(StringIO(game.board.pgn), pgn, 0, -1)

    def started(self, game):
        self.connection.bm.onGameModelStarted(game.gameno)
        self.say("tell replay play")

    async def save(self, model):
        while not model.ficsgame.move_queue.empty():  # the end is read before the moves that came with it are played
            await asyncio.sleep(0)
        model.save(self.path, pgn, True)
        self.say("tell replay play")
        self.count -= 1
        if not self.count and not self.done.done():
            self.done.set_result(None)


async def main(port, place, path, count):
    follower = Follower(int(port), place, path, int(count))
    asyncio.get_running_loop().set_exception_handler(lambda _, what: follower.fail(what.get("exception", what)))
    reading = asyncio.ensure_future(follower.connection.start())
    await asyncio.wait([reading, follower.done], return_when=asyncio.FIRST_COMPLETED)
    if reading.done():
        reading.result()
    follower.done.result()
    follower.connection.close()


asyncio.run(main(*sys.argv[1:]))
