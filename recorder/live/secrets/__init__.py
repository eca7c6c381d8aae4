"""Passwords, kept out of the journal."""
