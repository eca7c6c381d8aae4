"""Writing an archive: rows, merged games, links."""
