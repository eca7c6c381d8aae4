"""Measures of the use of time: SQL over the table of plies, which DuckDB runs."""
