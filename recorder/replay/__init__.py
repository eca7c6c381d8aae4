"""Replay recorded games and logs: timed moments, a server for chess clients, a terminal view and an engine."""
