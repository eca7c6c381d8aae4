"""Tables of an archive as DataFrames: plies, sides, games, events."""
