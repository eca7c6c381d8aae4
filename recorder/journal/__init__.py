"""What a connection carried, written before anything is understood: see docs/journal-format.md."""
