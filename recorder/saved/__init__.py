"""Saved games: PGN and BPGN → games. Pure: bytes in, games out."""
