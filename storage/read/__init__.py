"""Reading an archive: queries, games, columns, sources."""
