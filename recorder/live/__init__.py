"""Living connections: logging in, keeping secrets out of the journal, asking for games, standing between client and server."""
