"""Games that somebody saved: PGN and its likes → games. Pure: bytes in, games out."""
