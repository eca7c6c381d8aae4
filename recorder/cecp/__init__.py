"""The engine protocol of xboard and WinBoard (CECP), version 2: a value for every line, both ways.

``commands`` reads and writes the lines from the interface to the engine, ``edit`` those in edit mode, ``answers`` the
lines from the engine; ``moves``, ``features`` and ``thinking`` are parts of lines. Reading never raises: a line that
the protocol does not define is an ``Unknown``.

Source: "Chess Engine Communication Protocol" by Tim Mann and H.G. Muller.
"""
