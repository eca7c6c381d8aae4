"""Recordings live again: what was recorded as moments in time, and those who show them."""
