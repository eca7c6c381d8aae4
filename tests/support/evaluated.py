"""A saved game whose moves have evaluations, as lichess writes them, and what follows from them, computed by hand."""

PGN = b"""\
[Event "Rated bullet game"]
[Site "https://lichess.org/evaluate"]
[UTCDate "2024.01.02"]
[UTCTime "10:00:00"]
[White "Ann"]
[Black "Bob"]
[Result "1-0"]
[WhiteElo "1500"]
[BlackElo "1600"]
[TimeControl "60+0"]
[Termination "Normal"]

1. e4 { [%eval 0.3] [%clk 0:01:00] } 1... e5 { [%eval 0.2] [%clk 0:01:00] }
2. Nf3 { [%eval 0.2] [%clk 0:00:40] } 2... Nc6 { [%eval 0.3] [%clk 0:00:50] }
3. Bc4 { [%eval -0.5] [%clk 0:00:05] } 3... Nf6 { [%eval 0.6] [%clk 0:00:45] }
4. Ng5 { [%eval 0.0] [%clk 0:00:04] } 4... h6 { [%eval 9.0] [%clk 0:00:04] }
5. Nh3 { [%eval -2.0] [%clk 0:00:03] } 5... Qe7 { [%eval #4] [%clk 0:00:03] }
6. Qf3 { [%eval -1.0] [%clk 0:00:02] } 6... d6 { [%clk 0:00:02] } 1-0
"""

LOSSES: dict[int, tuple[int, int] | None] = {
    1: None,  # the start has no evaluation
    2: (0, 0),  # the position became better for Black: 0.3 was too much
    3: (0, 0),
    4: (10, 10),  # 482 - 472 of a thousand
    5: (80, 74),  # 0.3 to -0.5: 528 - 454, an inaccuracy
    6: (110, 101),  # 546 - 445, a mistake
    7: (60, 55),  # 555 - 500, an inaccuracy
    8: (900, 465),  # 500 - 35, a blunder
    9: (1100, 641),  # 965 - 324, a blunder
    10: (1200, 651),  # from 2.0 into a mate, which counts as 10.0: 676 - 25, a blunder
    11: (1100, 566),  # a mate let slip: 975 - 409, a blunder
    12: None,  # the last position has no evaluation
}
"""Loss by ply in hundredths of a pawn and in thousandths of the chances, by the rule in docs/reference/tables.md"""
