"""A replay in a terminal."""
