"""A chess server that plays recorded games for any client."""
