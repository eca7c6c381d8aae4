"""Conformance cases of the protocol specification, and what runs them against a program (docs/protocol).

A case is a stream of bytes as a server sends it, and the facts that a reader must find in it. ``runner`` gives the
cases to any program; ``own_reader`` is the recorder's own reader as such a program.
"""
