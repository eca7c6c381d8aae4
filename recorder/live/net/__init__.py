"""Addresses, connections and listening sockets."""
