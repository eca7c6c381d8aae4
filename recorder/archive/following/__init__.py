"""What stores a log or a journal while it grows."""
