"""Engines that look at recorded games: what they are told, what they answer, and how they are kept within bounds.

``plan`` makes of a game what an engine is told of it; ``cecp`` (with ``talk``) is the interface's side of xboard's
engine protocol, pure; ``found`` is what comes out, ``spec`` what a user asks for, ``intake`` cuts bytes into lines.
Processes are in ``recorder.cli.engines``, which the command calls.
"""
