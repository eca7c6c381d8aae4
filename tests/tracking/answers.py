"""Movelists as servers print them, for the tests of this folder."""

RUNNING = "{Still in progress} *"


def movelist(
    *moves: str, trailer: str, number: int | None = 7, elapsed: str = "0:02", names: str = "Ann Bob"
) -> list[str]:
    """An answer to ``moves`` (with a game's number) or ``smoves`` (``number`` None).

    The first two plies took no time, the others ``elapsed``: what ``Table`` plays by default.
    """
    white, black = names.split()
    halves = [f"{san:<7} ({'0:00' if index < 2 else elapsed})" for index, san in enumerate(moves)]
    rows = [f"{row + 1:3d}.  {'     '.join(halves[2 * row : 2 * row + 2])}" for row in range((len(halves) + 1) // 2)]
    return [
        *([] if number is None else [f"Movelist for game {number}:"]),
        "",
        f"{white} (1500) vs. {black} (1600) --- Mon Nov  4, 08:38 UTC 2002",
        "Rated blitz match, initial time: 5 minutes, increment: 0 seconds.",
        "",
        f"Move  {white}                {black}",
        "----  ----------------   ----------------",
        *rows,
        f"      {trailer}",
    ]
