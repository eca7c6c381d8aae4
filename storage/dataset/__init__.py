"""Data sets: folders of Parquet files with the plies and games of many sources, read through DuckDB."""
