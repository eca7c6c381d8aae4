"""Which games belong together: those seen twice, halves of adjourned ones, partners, and examined copies. Pure."""
