"""Checking, copying, sharing and erasing."""
