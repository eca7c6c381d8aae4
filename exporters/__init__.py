"""Writers of games: PGN, JSON and tables. Every one takes ``Iterable[Game]`` wherever they came from."""
