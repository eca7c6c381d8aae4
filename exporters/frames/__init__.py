"""Tidy tables of an archive: one row a half-move, a side, a game, an event. ``docs/tables.md`` lists their columns."""
