"""The engine protocol of xboard and WinBoard (CECP), version 2: a value for every line, both ways.

``commands`` reads and writes what the interface tells the engine, ``answers`` what the engine tells the interface;
``moves``, ``features`` and ``thinking`` are parts of those. Reading never raises: what is none of the protocol's lines
is an ``Unknown``. Source: "Chess Engine Communication Protocol" by Tim Mann and H.G. Muller.
"""

from recorder.cecp.answers import Answer, format_answer, parse_answer
from recorder.cecp.commands import Command, format_command, parse_command

__all__ = ["Answer", "Command", "format_answer", "format_command", "parse_answer", "parse_command"]
