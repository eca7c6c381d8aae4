"""Tests of the protocol specification, its cases and the runner."""
