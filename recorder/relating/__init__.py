"""Which games belong together: duplicates, halves of adjourned games, partners, and examinations of a game."""
