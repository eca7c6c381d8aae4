"""Games between engines and xboard, read from its debug files."""
