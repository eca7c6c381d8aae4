"""What games the public excerpts of ``tests/corpus/public`` hold: written by hand from their texts.

A row is game number, White, Black, the moves and the result as the text shows them. A move is listed when its board and
the board before are in the excerpt, when a movelist prints it, or when only one move can join two boards. The first
board of a joined game shows a move that is counted only if it is the game's first. ``examined`` marks games that are
shown, not played.
"""

from typing import NamedTuple


class Shown(NamedTuple):
    """A game in an excerpt."""

    number: int | None
    white: str
    black: str
    moves: str = ""
    result: str = "*"
    examined: bool = False


MOVES_OF_463 = (
    "e4 e6 d4 d5 Nc3 Nc6 e5 Nge7 Nf3 Nf5 h4 h5 Bg5 Be7 Qd2 b6 O-O-O Bb7 Kb1 Qd7 Bxe7 Qxe7 g3 O-O-O Bh3 Nh6 Ne2 g6 "
    "Nf4 Kb8 Rhe1 Na5 b3 Rc8 Ng5 c5 Bxe6 fxe6 Nxg6 Qd7 Nxh8 Rxh8 dxc5 Nf5 cxb6 axb6 Qb4 Qc6 Nf7 Rc8 Rd2 Qc5 Qxc5 bxc5 "
    "Nd6 Rf8 c3 Kc7 Nxf5 Rxf5 f4 Bc6 Kc2 Be8 Kd3 Rf8 Ke3 Bg6 Rc1 Bf5 Rb2 Rb8"
)

PUBLIC_GAMES: dict[str, list[Shown]] = {
    # Between Kf2 and hxg5 a board is missing: only d1=Q joins the two.
    "ahanft-observe-223": [
        Shown(223, "HUGOABEL", "megracia", "Bb3+ Ke1 d2+ Kf2 d1=Q hxg5 Qd2+ Kg1 Bd5 Be4 Bxe4 fxe4"),
    ],
    "bughouse-end-117-120": [],
    "bughouse-frames-promotion-drop": [
        Shown(146, "GuestZFRK", "fixerator"),
        Shown(47, "GuestCJPY", "GuestRPRR"),
        Shown(8, "touchpadonly", "JarlC"),
    ],
    "bughouse-observe-76-97-first-part": [
        Shown(76, "ArLeman", "WEBDubois", "O-O Bxf3 Bxf3 B@e4 Bxe4 Nxe4 Nd2 Ng5 N@f3 N@h3+ gxh3 Nxh3+ Kg2 N@f4+ exf4 "
              "Nxf4+ Kg3"),
        Shown(97, "Bugfish", "donkEchess", "Nxc3 bxc3 B@f5 N@e5 Nxe5 Nxe5 Qe7 P@g4 Be4 B@f3 N@h4"),
    ],
    "bughouse-play-58": [Shown(58, "fixerator", "GuestGTWN")],
    "bughouse-start-end-and-bugwho": [],
    "chesspad-frames": [
        Shown(100, "guestBLARG", "guestcday", "e4"),
        Shown(34, "blore", "GrandLapin", "gxh6 bxc6"),
        Shown(99, "abfics", "puzzlebot", examined=True),
    ],
    "csboard-relay-refresh": [Shown(134, "GMPopov", "GMAkopian"), Shown(65, "GuestSDSP", "uvsravikiran")],
    "emacs-chess-frames": [Shown(160, "GuestLKMM", "MiloBot"), Shown(65, "jwiegley", "GuestZYNJ")],
    "fcl-announcement": [],
    "fcl-follow-66": [Shown(66, "Boran", "Nopawn")],
    "fcl-movelist-214-bughouse": [
        Shown(214, "SKAcz", "HighContrast", "Nh3 Nc6 d4 e6 Ng5 Nh6 Ne4 Nf5 Ng5 Qe7 Nxf7 Qxf7 N@g5 Qe7 Nc3 B@f6 N@d5 "
              "exd5 Nxd5 Bxg5 Nxe7 Bfxe7 Bxg5 Bxg5 e3 Bxe3 fxe3 P@f2+ Ke2 N@g1+ Kd2"),
    ],
    "ictk-frames": [Shown(2, "bbbb", "Simpan", examined=True), Shown(109, "TacTick", "TacTick", examined=True)],
    "ictk-gameend-lines": [],
    "ictk-movelist-34": [
        Shown(34, "homerg", "drakorg", "e4 e6 Nf3 d5 e5 c5 c3 Nc6 d4 Qb6 Bd3 cxd4 Ng5 Bc5 Bxh7 dxc3 Qe2 Nd4"),
    ],
    "ictk-notifications": [],
    "knightcap-style11-1997": [],
    "lasker-seirawan": [
        Shown(21, "BotBv", "BotBu", "a3 a6 b3 b6 c3 c6 d3 d6 e3 e6 f3 f6 g3 g6 h3 h6", "0-1"),
    ],
    "lila-relay-277-wrapped-frame": [
        Shown(277, "depop", "Sheikki", "e4 e5 Nf3 d5 Nc3 Nf6 exd5 e4 Ng1 Bg4 Be2 Bxe2 Qxe2 Nxd5"),
    ],
    "macbeth-draw-accept-202": [],
    "macbeth-frames": [
        Shown(193, "SirNighted", "TTDo", examined=True),
        Shown(209, "bhimani", "GuestYHMK"),
        Shown(364, "GuestJYQC", "GuestNGCB"),
        Shown(214, "GuestLQFZ", "GuestSFKS"),
        Shown(18, "chicapucp", "GuestFTYL"),
        Shown(157, "IMUrkedal", "GMRomanov"),
        Shown(217, "GuestJZFG", "GuestKNSF", "e4"),
    ],
    "macbeth-gameend-lines": [],
    "macbeth-glued-observe-157": [Shown(157, "IMUrkedal", "GMRomanov")],
    "macbeth-messages": [],
    "macbeth-play-seek-18": [Shown(18, "chicapucp", "GuestFTYL")],
    "macbeth-seek-matches-364": [Shown(364, "GuestJYQC", "GuestNGCB")],
    "mekk-gameend-lines": [],
    "mekk-games-listing": [],
    "mekk-observe-normal": [Shown(92, "Motyl", "Aretus")],
    "mekk-observe-spec-shortrating-white": [Shown(221, "GuestMGVG", "Mekk", "e4")],
    "mekk-observe-wild4": [Shown(226, "Raph", "andycappablanca")],
    "mekk-session-short": [
        Shown(60, "GYOI", "urtooeasy"),
        Shown(182, "milecker", "jamofr", "Bg7 c5 Ne7 Bb5+"),
    ],
    "pychess-game-starts": [
        Shown(55, "mgatto", "Thegermain"),
        Shown(107, "opmentor", "mgatto"),
        Shown(12, "electricbenj", "antonymelvin"),
        Shown(111, "GuestGTFC", "GuestRLJC"),
    ],
    "pychess-issue983-log": [],
    "pychess-lecturebot": [Shown(1, "Henley", "Browne", "Nf3 c5 g3 b6", examined=True)],
    "pychess-movelist-64": [Shown(64, "Ajido", "IMgooeyjim", "d4 Nf6 c4 g6 Nc3 Bg7")],
    "pychess-observe-463": [Shown(463, "schachbjm", "Maras", f"{MOVES_OF_463} Rg2 Rg8")],
    "pychess-play-gbtami": [Shown(107, "gbtami", "ggbtami", "f3 e5 g4 Qh4#", "0-1")],
    "pychess-play-seek-WLTL": [Shown(85, "WLTL", "gbtami", "b3 Nf6 g3")],
    "pychess-puzzlebot-1": [Shown(127, "gbtami", "puzzlebot", "Qxh5", examined=True)],
    "pychess-seeks-offers-noise": [],
    "pychess-stored-list-1": [Shown(None, "BwanaSlei", "mgatto", "e4 c5 Nf3")],
    "queenmaxima-icc-frames": [Shown(389, "Alfreema", "Wyrm", "Ba6+"), Shown(507, "guest1151", "guest460")],
    "talkchess-icc-wild22-winboard-debug": [Shown(None, "threechecksbot", "Mike", "d4 d5 e3 c6 Nf3")],
}  # fmt: skip

NO_TRANSCRIPTS = {
    "chessd-first-answers": "first answers of a server with a prompt of its own; asserted in tests/dialects",
    "fatics-expected-lines": "lines that a test suite expects, sorted: boards of many games one under the other",
    "fics-help-style12": "the help page of the format; its example is asserted in the edge cases",
    "mekk-style12-frames": "single boards, two of one number as examined and as played",
    "misc-frames": "single boards of several logs, two of them under one number: a stranger's board is a snapshot",
    "pychess-issue831-negative-clock": "a log with the debug entries of one board; asserted in the edge cases",
}
"""Excerpts that are not compared, and why."""
