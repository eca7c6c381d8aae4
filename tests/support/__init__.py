"""Helpers that only tests and benchmarks use; nothing of the product imports them."""
