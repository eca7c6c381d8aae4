"""Examined games: a tree of the boards that were shown."""
