"""PGN, built directly from the plies."""
